// The `kruxos` command's arguments.
#pragma once

#include <string>
#include <vector>

#include "host/cli/session.hpp"

namespace krux::cli {

/// Runs one command (`arguments` without the program's name) and returns the exit code. Never throws.
int run_command(const std::vector<std::string>& arguments, Console& console, const VerifyPlugin& verify,
                const CertifyAdapter& certify = {}, const InspectBundle& inspect_bundle = {});

}  // namespace krux::cli
