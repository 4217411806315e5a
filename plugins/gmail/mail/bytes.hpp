// Bytes that are passed on piece by piece instead of being gathered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace gmail {

/// Takes the next bytes; false ends the writing. What it throws ends it too, and is thrown to who started it.
using ByteSink = std::function<bool(std::string_view)>;

/// Fills a buffer with the bytes from `offset` on; returns how many, 0 at the end. What it throws is thrown to who
/// reads.
using ByteSource = std::function<std::size_t(std::uint64_t offset, char* buffer, std::size_t capacity)>;

}  // namespace gmail
