// Where the words of a command line lead in the tree of commands: for sentences about wrong ones, and for completing.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace krux::cli {

struct WordWalk {
  const CLI::App* command;               ///< the last one that the words name
  std::string path;                      ///< "kruxos agent create"
  std::vector<std::string> positionals;  ///< words of that command that are no options
  const CLI::Option* awaits = nullptr;   ///< the last word is an option whose value is still to come
  std::vector<std::pair<const CLI::Option*, std::string>> options;  ///< with their values, in order
  std::string unknown_command, unknown_option;                      ///< the first of either, behind which the walk ends
  bool behind_dashes = false;                                       ///< behind "--": no options any more
  bool others = false;                                              ///< what follows is another program's
};

WordWalk walk_words(const CLI::App& app, const std::vector<std::string>& words);

/// An option of the command, or of those that it belongs to, by "--name" or "-n"; null: there is none.
const CLI::Option* find_option(const CLI::App* command, const std::string& name);
/// "--name", or "-n" where that is all that there is, or a positional's name.
std::string name_of(const CLI::Option& option);
/// Its own options that are shown, without positionals; those of an option group too.
std::vector<const CLI::Option*> options_of(const CLI::App& command);
/// Of a group of options, one of which is chosen.
std::vector<const CLI::Option*> choices_of(const CLI::App& group);
std::vector<const CLI::Option*> positionals_of(const CLI::App& command);
/// Those that are not hidden.
std::vector<const CLI::App*> commands_of(const CLI::App& command);
bool takes_value(const CLI::Option& option);

}  // namespace krux::cli
