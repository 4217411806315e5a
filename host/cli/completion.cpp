#include <fmt/format.h>

#include <ostream>

#include "core/util/nearest.hpp"
#include "core/util/text.hpp"
#include "host/cli/command_text.hpp"
#include "host/cli/commands.hpp"

namespace krux::cli {

int print_completion(const Session& session, const std::string& shell) {
  for (const auto& file : completion_files()) {
    if (file.name != shell) continue;
    session.console.out() << file.text;
    return kOk;
  }
  throw CliError(kUsage, fmt::format("There is no completion for {}{}. There is one for bash, zsh and fish.",
                                     printable(shell), did_you_mean(shell, {"bash", "zsh", "fish"})));
}

}  // namespace krux::cli
