#include "host/cli/command_text.hpp"

#include <algorithm>

namespace krux::cli {
namespace {

constexpr std::string_view kHeading = "## ", kExample = "    ", kFrame = "frame_";

template <class Take>
void each_line(std::string_view text, Take&& take) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    take(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

/// Calls take(command, line) for all that stands below headings.
template <class Take>
void each_command_line(Take&& take) {
  for (const auto& file : command_files()) {
    if (file.name.starts_with(kFrame)) continue;
    std::string command;
    each_line(file.text, [&](std::string_view line) {
      const bool heading = line.starts_with(kHeading);
      if (heading) command = line.substr(kHeading.size());
      take(command, heading ? std::string_view() : line, heading);
    });
  }
}

}  // namespace

CommandText text_of(const std::string& command) {
  CommandText text;
  bool goes_on = false;  // a paragraph's next line
  each_command_line([&](const std::string& of, std::string_view line, bool) {
    if (of != command) return;
    if (line.starts_with(kExample)) {
      text.examples.emplace_back(line.substr(kExample.size()));
    } else if (!line.empty()) {
      if (goes_on) {
        text.paragraphs.back().append(" ").append(line);
      } else {
        text.paragraphs.emplace_back(line);
      }
    }
    goes_on = !line.empty() && !line.starts_with(kExample);
  });
  return text;
}

std::vector<std::string> commands_with_text() {
  std::vector<std::string> all;
  each_command_line([&](const std::string& command, std::string_view, bool heading) {
    if (heading) all.push_back(command);
  });
  return all;
}

std::string_view frame_of(std::string_view document) {
  const auto files = command_files();
  const auto found = std::find_if(files.begin(), files.end(), [&](const CommandFile& file) {
    return file.name.starts_with(kFrame) && file.name.substr(kFrame.size()) == document;
  });
  return found == files.end() ? std::string_view() : found->text;
}

std::string without_markup(std::string_view markdown) {
  std::string out;
  while (!markdown.empty()) {
    const auto middle = markdown.find("](");
    const bool link = markdown[0] == '[' && middle != std::string_view::npos && middle < markdown.find(']') + 1;
    if (link) {
      const auto end = markdown.find(')', middle);
      out += without_markup(markdown.substr(1, middle - 1));
      markdown.remove_prefix(end == std::string_view::npos ? markdown.size() : end + 1);
    } else if (markdown.starts_with("**") || markdown[0] == '`') {
      markdown.remove_prefix(markdown[0] == '`' ? 1 : 2);
    } else {
      out += markdown[0];
      markdown.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace krux::cli
