// What may stand next on a command line: asked by the shells' completion scripts through a hidden command.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "host/cli/session.hpp"

namespace krux::cli {

/// The first word of the hidden command; what follows are the words so far, of which the last is not finished.
inline constexpr const char* kCompleteCommand = "__complete";

/// One line for each: the word, a tab and what it means; ":files" and ":directories" stand for what the shell knows
/// itself. What the host would have to be asked for is left out where it does not answer at once.
/// `host_of(socket, data_dir)`: the host that the words are about.
using HostOf = std::function<ControlClient(const std::string& socket, const std::string& data_dir)>;
std::string completions(const CLI::App& app, std::vector<std::string> words, const HostOf& host_of);

}  // namespace krux::cli
