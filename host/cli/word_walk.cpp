#include "host/cli/word_walk.hpp"

#include <algorithm>

namespace krux::cli {
namespace {

bool is_option_word(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word != "--";
}

/// One word that begins with a dash. Returns whether the walk goes on.
bool take_option(WordWalk& walk, const std::string& word) {
  const auto equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  const auto* option = find_option(walk.command, word.substr(0, equals));
  if (!option) {
    walk.unknown_option = word.substr(0, equals);
    return false;
  }
  walk.options.emplace_back(option, equals == std::string::npos ? "" : word.substr(equals + 1));
  if (takes_value(*option) && equals == std::string::npos) walk.awaits = option;
  return true;
}

bool take_command(WordWalk& walk, const std::string& word) {
  const auto commands = commands_of(*walk.command);
  const auto found =
      std::find_if(commands.begin(), commands.end(), [&](const auto* one) { return one->get_name() == word; });
  if (found == commands.end()) {
    walk.unknown_command = word;
    return false;
  }
  walk.command = *found;
  walk.path += " " + word;
  walk.others = walk.command->get_prefix_command();
  return !walk.others;
}

}  // namespace

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

std::string name_of(const CLI::Option& option) {
  if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
  if (!option.get_snames().empty()) return "-" + option.get_snames().front();
  return option.get_name(true);
}

std::vector<const CLI::App*> commands_of(const CLI::App& command) {
  auto all = command.get_subcommands([](const CLI::App*) { return true; });
  std::erase_if(all, [](const CLI::App* one) { return one->get_name().empty(); });
  return {all.begin(), all.end()};
}

std::vector<const CLI::Option*> choices_of(const CLI::App& group) {
  return group.get_options([](const CLI::Option* one) { return one->nonpositional() && name_of(*one) != "--help"; });
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  std::vector<const CLI::Option*> all;
  for (const auto* option : command.get_options([](const CLI::Option* one) { return one->nonpositional(); }))
    all.push_back(option);
  for (const auto* group : command.get_subcommands([](const CLI::App* one) { return one->get_name().empty(); })) {
    for (const auto* option : choices_of(*group)) all.push_back(option);
  }
  return all;
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* one) { return one->get_positional(); });
}

const CLI::Option* find_option(const CLI::App* command, const std::string& name) {
  for (; command; command = command->get_parent()) {
    for (const auto* option : options_of(*command)) {
      if (option->check_name(name)) return option;
    }
  }
  return nullptr;
}

WordWalk walk_words(const CLI::App& app, const std::vector<std::string>& words) {
  WordWalk walk{&app, app.get_name(), {}, nullptr, {}, {}, {}, false, false};
  for (const auto& word : words) {
    if (walk.awaits) {
      walk.options.back().second = word;
      walk.awaits = nullptr;
    } else if (word == "--" && !walk.behind_dashes) {
      walk.behind_dashes = true;
    } else if (is_option_word(word) && !walk.behind_dashes) {
      if (!take_option(walk, word)) break;
    } else if (!commands_of(*walk.command).empty()) {
      if (!take_command(walk, word)) break;
    } else {
      walk.positionals.push_back(word);
    }
  }
  return walk;
}

}  // namespace krux::cli
