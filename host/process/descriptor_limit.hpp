// How many files and sockets the process may have open.
#pragma once

#include <cstddef>

namespace krux {

/// As many as it may have without asking anybody: shells and init systems give programs far fewer at first. What it
/// starts sets limits of its own.
void raise_descriptor_limit();

/// The limit in force.
std::size_t descriptor_limit();

/// How many of them agents' connections may take where `wanted` are configured: half are left for the operator, for
/// databases, syncs and writes.
std::size_t agent_connections(std::size_t wanted, std::size_t descriptors);

}  // namespace krux
