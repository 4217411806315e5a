#include "host/cli/usage_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/util/nearest.hpp"
#include "core/util/text.hpp"
#include "host/cli/table.hpp"
#include "host/cli/word_walk.hpp"

namespace krux::cli {
namespace {

constexpr int kShownOfAWord = 40;

std::string shown(const std::string& word) {
  return "\"" + fit(printable(word), kShownOfAWord) + "\"";
}

std::string in_line(const std::vector<std::string>& names) {
  std::string line;
  for (const auto& name : names) line += (line.empty() ? "" : ", ") + name;
  return line;
}

std::vector<std::string> command_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* one : commands_of(command)) names.push_back(one->get_name());
  return names;
}

/// "`NAME` (The agent's name)"
std::string with_meaning(const CLI::Option& option) {
  const auto value = takes_value(option) && !option.get_positional() ? " " + option.get_type_name() : "";
  return fmt::format("{}{} ({})", name_of(option), value, option.get_description());
}

std::string wrong_command(const WordWalk& walk) {
  const auto names = command_names(*walk.command);
  const auto meant = did_you_mean(walk.unknown_command, names);
  if (!walk.command->get_parent()) return fmt::format("There is no command {}{}.", shown(walk.unknown_command), meant);
  return fmt::format("{} has no command {}{}. It has: {}.", walk.path, shown(walk.unknown_command), meant,
                     in_line(names));
}

std::string wrong_option(const WordWalk& walk) {
  std::vector<std::string> names;
  for (const auto* at = walk.command; at; at = at->get_parent()) {
    for (const auto* option : options_of(*at)) names.push_back(name_of(*option));
  }
  return fmt::format("{} has no option {}{}.", walk.path, shown(walk.unknown_option),
                     did_you_mean(walk.unknown_option, names));
}

std::optional<std::string> one_word_too_many(const WordWalk& walk) {
  const auto positionals = positionals_of(*walk.command);
  std::vector<std::string> taken;
  for (const auto* one : positionals) {
    if (one->get_items_expected_max() > 1) return std::nullopt;
    taken.push_back(one->get_name(true));
  }
  if (walk.others || walk.positionals.size() <= positionals.size()) return std::nullopt;
  return fmt::format("{} is one word too many: {} takes {}.", shown(walk.positionals[positionals.size()]), walk.path,
                     taken.empty() ? "options alone" : in_line(taken) + ", and options");
}

std::optional<std::string> missing(const WordWalk& walk) {
  if (!commands_of(*walk.command).empty()) {
    if (!walk.command->get_parent()) return "Name a command.";
    return fmt::format("{} needs one of its commands: {}.", walk.path, in_line(command_names(*walk.command)));
  }
  for (const auto* option : walk.command->get_options([](const CLI::Option* one) { return one->get_required(); })) {
    if (option->count() == 0) return fmt::format("{} needs {}.", walk.path, with_meaning(*option));
  }
  for (const auto* group : walk.command->get_subcommands([](const CLI::App* one) { return one->get_name().empty(); })) {
    std::vector<std::string> names, given;
    for (const auto* option : choices_of(*group)) {
      names.push_back(name_of(*option));
      if (option->count() > 0) given.push_back(names.back());
    }
    if (given.empty()) return fmt::format("{} needs one of {}.", walk.path, in_line(names));
    if (given.size() > 1) return fmt::format("{} takes only one of {}.", walk.path, in_line(given));
  }
  return std::nullopt;
}

/// Of options that need another one, or do not go with it.
std::optional<std::string> not_together(const WordWalk& walk) {
  for (const auto* at = walk.command; at; at = at->get_parent()) {
    for (const auto* option : at->get_options()) {
      if (option->count() == 0) continue;
      for (const auto* needed : option->get_needs()) {
        if (needed->count() == 0) return fmt::format("{} goes with {} only.", name_of(*option), name_of(*needed));
      }
      for (const auto* other : option->get_excludes()) {
        if (other->count() > 0)
          return fmt::format("{} and {} do not go together: give one of them.", name_of(*option), name_of(*other));
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> given_twice(const WordWalk& walk) {
  for (const auto& [option, value] : walk.options) {
    const auto* the_same = option;
    const auto times =
        std::count_if(walk.options.begin(), walk.options.end(), [&](const auto& one) { return one.first == the_same; });
    if (times > 1 && takes_value(*option) && option->get_items_expected_max() == 1)
      return fmt::format("{} may stand once only.", name_of(*option));
    if (!takes_value(*option) && !value.empty()) return fmt::format("{} takes no value.", name_of(*option));
  }
  return std::nullopt;
}

/// As validators say it, behind the option that it is about.
std::string wrong_value(const CLI::ParseError& error) {
  std::string text = error.what();
  const auto colon = text.find(": ");
  if (colon != std::string::npos) text.erase(colon, 1);
  return fit(printable(text), 300);
}

std::string what_is_wrong(const CLI::ParseError& error, const WordWalk& walk) {
  if (!walk.unknown_command.empty()) return wrong_command(walk);
  if (!walk.unknown_option.empty()) return wrong_option(walk);
  if (walk.awaits) return fmt::format("{} needs a value: {}.", name_of(*walk.awaits), with_meaning(*walk.awaits));
  if (const auto twice = given_twice(walk)) return *twice;
  if (error.get_name() == "ValidationError") return wrong_value(error);
  if (const auto extra = one_word_too_many(walk)) return *extra;
  if (const auto together = not_together(walk)) return *together;
  if (const auto lacking = missing(walk)) return *lacking;
  return wrong_value(error);
}

}  // namespace

std::string usage_error(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
  const auto walk = walk_words(app, words);
  return fmt::format("{} See: {} --help", what_is_wrong(error, walk), walk.path);
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return CLI::Validator(
      [least, most](std::string& given) {
        std::int64_t value = 0;
        const auto* end = given.data() + given.size();
        const auto read = std::from_chars(given.data(), end, value);
        if (read.ec == std::errc() && read.ptr == end && value >= least && value <= most) return std::string();
        return fmt::format("must be a whole number from {} to {}, not {}.", least, most, shown(given));
      },
      "");
}

CLI::Validator time_in_minutes(std::int64_t most) {
  return CLI::Validator(
      [most](std::string& given) {
        std::int64_t value = 0;
        const auto* end = given.data() + given.size();
        const auto read = std::from_chars(given.data(), end, value);
        const std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
        const std::int64_t minutes = unit == "min" ? 1 : unit == "h" ? 60 : unit == "d" ? 24 * 60 : 0;
        const bool good = read.ec == std::errc() && minutes > 0 && value >= 1 && value <= most / minutes;
        if (!good)
          return fmt::format("must be a time from 1min to {}, such as 30min or 2h, not {}.",
                             most % (24 * 60) == 0 ? fmt::format("{}d", most / (24 * 60)) : fmt::format("{}min", most),
                             shown(given));
        given = std::to_string(value * minutes);
        return std::string();
      },
      "");
}

void refuse_empty_values(CLI::App& app, const std::vector<std::string>& may_be_empty) {
  for (auto* option : app.get_options([](CLI::Option*) { return true; })) {
    const auto name = name_of(*option);
    if (!takes_value(*option) || std::find(may_be_empty.begin(), may_be_empty.end(), name) != may_be_empty.end())
      continue;
    const auto meaning = option->get_description();
    option->check(CLI::Validator(
        [meaning](std::string& given) {
          return given.empty() ? fmt::format("must not be empty ({}).", meaning) : std::string();
        },
        ""));
  }
  for (auto* command : app.get_subcommands([](CLI::App*) { return true; })) refuse_empty_values(*command, may_be_empty);
}

}  // namespace krux::cli
