// What there is to say about each command besides its options: one source for --help, docs/cli.md and the man pages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace krux::cli {

struct CommandFile {
  std::string_view name, text;
};
/// The files of host/cli/help, by their names without ".md".
std::span<const CommandFile> command_files();
/// The completion scripts, by their shells.
std::span<const CommandFile> completion_files();

struct CommandText {
  std::vector<std::string> paragraphs;  ///< Markdown, a line each
  std::vector<std::string> examples;    ///< lines for a shell
};
/// Of "agent create"; empty where nothing stands about it.
CommandText text_of(const std::string& command);
/// All that "## command" stands before, to be checked against the tree.
std::vector<std::string> commands_with_text();

/// What surrounds the commands in docs/cli.md and kruxos.1: Markdown with a line "{commands}".
std::string_view frame_of(std::string_view document);

/// Markdown's code, bold and links as plain text.
std::string without_markup(std::string_view markdown);

}  // namespace krux::cli
