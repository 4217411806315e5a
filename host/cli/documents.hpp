// docs/cli.md and the manual pages, made of the commands' tree and of the files in host/cli/help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace krux::cli {

/// docs/cli.md
std::string command_document();
/// kruxos.1
std::string command_manual();
/// kruxosd.8, of the host's own options.
std::string host_manual(const CLI::App& host);

}  // namespace krux::cli
