// A command's help, as --help and `kruxos help` print it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "host/cli/terminal.hpp"

namespace krux::cli {

/// "kruxos agent create"
std::string path_of(const CLI::App& command);
/// "NAME [--grace TIME] [--yes]": all that may stand behind the command.
std::string synopsis_of(const CLI::App& command);
/// "-y, --yes", "--grace TIME", "NAME"
std::string written_option(const CLI::Option& option);

void print_help(Console& console, const CLI::App& command);

}  // namespace krux::cli
