// Passphrases that are typed, or come from a file.
#pragma once

#include <filesystem>
#include <string>

#include "core/net/secret.hpp"
#include "host/cli/terminal.hpp"

namespace krux::cli {

/// One line of standard input. Throws CliError where there is none.
SecretBytes ask_passphrase(Console& console, const std::string& prompt);
/// Typed twice on a terminal, where nobody sees what is typed.
SecretBytes ask_new_passphrase(Console& console);

/// The operator's of that name (empty: of the only one): the first line of `file`, or typed on a terminal where that is
/// empty. A file may be a pipe
/// (/dev/fd/3); one that others can read is refused. Throws CliError where there is neither.
SecretBytes operators_passphrase(Console& console, const std::filesystem::path& file, const std::string& name);

}  // namespace krux::cli
