// A command line as words, for programs that are started without a shell.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace process {

/// Quotation marks and backslashes as shells read them. Throws ProxyError kInvalid for what only a shell could do
/// (pipes, redirections, variables, patterns, several commands), for marks that are not closed, and for nothing.
std::vector<std::string> words_of(std::string_view command);

}  // namespace process
