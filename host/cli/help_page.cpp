#include "host/cli/help_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>
#include <vector>

#include "host/cli/command_text.hpp"
#include "host/cli/table.hpp"
#include "host/cli/word_walk.hpp"

namespace krux::cli {
namespace {

constexpr int kWidestLeft = 26, kIndent = 2;

using Rows = std::vector<std::pair<std::string, std::string>>;

class Page {
 public:
  explicit Page(Console& console)
      : console_(console), width_(console.writes_terminal() ? std::clamp(console.width(), 40, 100) : 100) {}

  void paragraph(const std::string& text) {
    for (const auto& line : wrap(text, width_)) console_.out() << line << "\n";
  }
  void title(const std::string& text) { console_.out() << "\n" << styled(console_, text, Style::kBold) << "\n"; }
  void line(const std::string& text) { console_.out() << text << "\n"; }

  void rows(const std::string& heading, const Rows& rows) {
    if (rows.empty()) return;
    title(heading);
    int left = 0;
    for (const auto& [name, meaning] : rows) {
      if (display_width(name) <= kWidestLeft) left = std::max(left, display_width(name));
    }
    for (const auto& [name, meaning] : rows) row(name, meaning, left);
  }

 private:
  void row(const std::string& name, const std::string& meaning, int left) {
    const auto begins = kIndent + left + 2;
    auto text = std::string(kIndent, ' ') + name;
    bool here = display_width(name) <= left;
    if (!here) line(text);
    if (here) text += std::string(static_cast<std::size_t>(begins - display_width(text)), ' ');
    for (const auto& part : wrap(meaning, std::max(20, width_ - begins))) {
      line((here ? text : std::string(static_cast<std::size_t>(begins), ' ')) + part);
      here = false;
    }
  }

  Console& console_;
  const int width_;
};

bool is_help(const CLI::Option& option) {
  return name_of(option) == "--help";
}

Rows rows_of(const std::vector<const CLI::Option*>& options) {
  Rows rows;
  for (const auto* option : options) {
    if (!is_help(*option)) rows.emplace_back(written_option(*option), option->get_description());
  }
  return rows;
}

/// "--grace TIME", with brackets where it may be left out.
std::string in_synopsis(const CLI::Option& option) {
  auto text = option.get_positional() ? option.get_name(true)
              : takes_value(option)   ? name_of(option) + " " + option.get_type_name()
                                      : name_of(option);
  if (option.get_items_expected_max() > 1) text += "…";
  return option.get_required() ? text : "[" + text + "]";
}

}  // namespace

std::string path_of(const CLI::App& command) {
  return command.get_parent() ? path_of(*command.get_parent()) + " " + command.get_name() : command.get_name();
}

std::string written_option(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string text;
  for (const auto& name : option.get_snames()) text += "-" + name + ", ";
  text += name_of(option);
  return takes_value(option) ? text + " " + option.get_type_name() : text;
}

std::string synopsis_of(const CLI::App& command) {
  if (!commands_of(command).empty()) return "COMMAND";
  if (command.get_prefix_command()) return "SERVICE [OPTION…] (ADDRESS | -- PROGRAM [ARGUMENT…])";
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  for (const auto* option : positionals_of(command)) add(in_synopsis(*option));
  for (const auto* option :
       command.get_options([](const CLI::Option* one) { return one->nonpositional() && !is_help(*one); }))
    add(in_synopsis(*option));
  for (const auto* group : command.get_subcommands([](const CLI::App* one) { return one->get_name().empty(); })) {
    std::string choice;
    for (const auto* option : choices_of(*group)) choice += (choice.empty() ? "" : " | ") + name_of(*option);
    add("(" + choice + ")");
  }
  return text;
}

void print_help(Console& console, const CLI::App& command) {
  Page page(console);
  page.paragraph(command.get_description());
  page.title("Usage");
  const auto synopsis = synopsis_of(command);
  page.paragraph(fmt::format("  {}{}{}", path_of(command), synopsis.empty() ? "" : " ", synopsis));
  const auto words = path_of(command).substr(path_of(command).find(' ') + 1);
  const auto text = text_of(words);
  for (const auto& paragraph : text.paragraphs) {
    page.line("");
    page.paragraph(without_markup(paragraph));
  }
  Rows commands;
  for (const auto* one : commands_of(command)) commands.emplace_back(one->get_name(), one->get_description());
  page.rows("Commands", commands);
  page.rows("Arguments", rows_of(positionals_of(command)));
  if (command.get_parent()) page.rows("Options", rows_of(options_of(command)));
  const CLI::App* root = &command;
  while (root->get_parent()) root = root->get_parent();
  page.rows("Options of every command", rows_of(options_of(*root)));
  if (!text.examples.empty()) page.title("Examples");
  for (const auto& example : text.examples) page.line("  " + example);
  if (!commands.empty()) page.line(fmt::format("\n{} COMMAND --help says more about one.", path_of(command)));
}

}  // namespace krux::cli
