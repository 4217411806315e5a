#include "host/cli/documents.hpp"

#include <fmt/format.h>

#include <vector>

#include "host/cli/command_text.hpp"
#include "host/cli/help_page.hpp"
#include "host/cli/manual_page.hpp"
#include "host/cli/parsed.hpp"
#include "host/cli/word_walk.hpp"

namespace krux::cli {
namespace {

constexpr std::string_view kPlace = "{commands}\n";

/// The commands that can be run, in the tree's order.
void leaves_of(const CLI::App& command, std::vector<const CLI::App*>& into) {
  const auto all = commands_of(command);
  if (all.empty()) into.push_back(&command);
  for (const auto* one : all) leaves_of(*one, into);
}

/// "agent create"
std::string words_of(const CLI::App& command) {
  const auto path = path_of(command);
  return path.substr(path.find(' ') + 1);
}

std::vector<const CLI::Option*> told_options(const CLI::App& command) {
  std::vector<const CLI::Option*> told = positionals_of(command);
  for (const auto* option : options_of(command)) {
    if (name_of(*option) != "--help") told.push_back(option);
  }
  return told;
}

std::string in_markdown(const CLI::App& command) {
  const auto words = words_of(command), synopsis = synopsis_of(command);
  std::string text =
      fmt::format("### `{}{}{}`\n\n{}.\n", words, synopsis.empty() ? "" : " ", synopsis, command.get_description());
  const auto told = text_of(words);
  for (const auto& paragraph : told.paragraphs) text += "\n" + paragraph + "\n";
  const auto options = told_options(command);
  if (!options.empty()) text += "\n| | |\n|---|---|\n";
  for (const auto* option : options)
    text += fmt::format("| `{}` | {} |\n", written_option(*option), option->get_description());
  if (!told.examples.empty()) text += "\n```sh\n";
  for (const auto& example : told.examples) text += example + "\n";
  if (!told.examples.empty()) text += "```\n";
  return text;
}

void add_options(ManualPage& page, const std::vector<const CLI::Option*>& options) {
  for (const auto* option : options) page.item(written_option(*option), option->get_description());
}

void in_manual(ManualPage& page, const CLI::App& command) {
  const auto synopsis = synopsis_of(command);
  page.part(path_of(command) + (synopsis.empty() ? "" : " ") + synopsis);
  page.paragraph(command.get_description() + ".");
  const auto told = text_of(words_of(command));
  for (const auto& paragraph : told.paragraphs) page.paragraph(paragraph);
  add_options(page, told_options(command));
  if (!told.examples.empty()) page.verbatim(told.examples);
}

struct Tree {
  Parsed parsed;
  CLI::App app;
  std::vector<const CLI::App*> leaves;
  Tree() {
    build_tree(app, parsed);
    leaves_of(app, leaves);
  }
};

/// What stands before and behind the commands.
std::pair<std::string_view, std::string_view> around(std::string_view document) {
  const auto frame = frame_of(document);
  const auto at = frame.find(kPlace);
  return {frame.substr(0, at), at == std::string_view::npos ? std::string_view() : frame.substr(at + kPlace.size())};
}

}  // namespace

std::string command_document() {
  const Tree tree;
  const auto [before, behind] = around("cli");
  std::string text(before);
  text += "| | |\n|---|---|\n";
  for (const auto* group : commands_of(tree.app))
    text += fmt::format("| [`{0}`](#{0}) | {1} |\n", group->get_name(), group->get_description());
  for (const auto* group : commands_of(tree.app)) {
    text += fmt::format("\n## {}\n", group->get_name());
    std::vector<const CLI::App*> leaves;
    leaves_of(*group, leaves);
    for (const auto* leaf : leaves) text += "\n" + in_markdown(*leaf);
  }
  return text + "\n" + std::string(behind);
}

std::string command_manual() {
  const Tree tree;
  const auto [before, behind] = around("cli");
  ManualPage page("kruxos", "1", "operate a running kruxosd");
  page.section("Synopsis");
  page.paragraph("`kruxos` COMMAND [OPTION…]");
  page.section("Description");
  page.markdown(before);
  page.section("Options of every command");
  add_options(page, told_options(tree.app));
  page.section("Commands");
  for (const auto* leaf : tree.leaves) in_manual(page, *leaf);
  page.markdown(behind);
  page.section("See also");
  page.paragraph("**kruxosd**(8)");
  return page.text();
}

std::string host_manual(const CLI::App& host) {
  const auto [before, behind] = around("kruxosd");
  ManualPage page("kruxosd", "8", "stand between agents and services");
  page.section("Synopsis");
  page.paragraph("`kruxosd` [OPTION…]");
  page.section("Description");
  page.markdown(before);
  page.section("Options");
  add_options(page, options_of(host));
  page.markdown(behind);
  page.section("See also");
  page.paragraph("**kruxos**(1)");
  return page.text();
}

}  // namespace krux::cli
