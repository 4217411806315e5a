#include "host/cli/manual_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace krux::cli {
namespace {

/// As troff takes it: what it would read as its own is escaped.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

/// No line may begin as a request does.
std::string guarded(std::string line) {
  if (line.starts_with('.') || line.starts_with('\'')) line.insert(0, "\\&");
  return line;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

/// Code and bold in bold; of links what they show.
std::string inline_text(std::string_view markdown) {
  std::string out;
  bool bold = false;
  while (!markdown.empty()) {
    const bool code = markdown[0] == '`', strong = markdown.starts_with("**");
    const auto middle = markdown.find("](");
    if (code || strong) {
      bold = !bold;
      out += bold ? "\\fB" : "\\fR";
      markdown.remove_prefix(code ? 1 : 2);
    } else if (markdown[0] == '[' && middle != std::string_view::npos && markdown.find(']') == middle) {
      const auto end = markdown.find(')', middle);
      out += inline_text(markdown.substr(1, middle - 1));
      markdown.remove_prefix(end == std::string_view::npos ? markdown.size() : end + 1);
    } else {
      out += plain(markdown.substr(0, 1));
      markdown.remove_prefix(1);
    }
  }
  return out;
}

std::string_view next_line(std::string_view& text) {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Of "| a | b |".
std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells;
  row.remove_prefix(1);
  while (!row.empty()) {
    const auto end = std::min(row.find('|'), row.size());
    auto cell = std::string(row.substr(0, end));
    while (cell.ends_with(' ')) cell.pop_back();
    while (cell.starts_with(' ')) cell.erase(0, 1);
    cells.push_back(std::move(cell));
    row.remove_prefix(std::min(end + 1, row.size()));
  }
  return cells;
}

}  // namespace

ManualPage::ManualPage(const std::string& name, const std::string& section, const std::string& does)
    : text_(
          fmt::format(".\\\" Made by scripts/documents. Change host/cli/help and the commands' descriptions instead.\n"
                      ".TH {} {} \"\" \"KruxOS Service Proxy\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n",
                      upper(name), section, plain(name), plain(does))) {}

void ManualPage::section(const std::string& title) {
  text_ += fmt::format(".SH \"{}\"\n", plain(upper(title)));
}

void ManualPage::part(const std::string& title) {
  text_ += fmt::format(".SS \"{}\"\n", plain(title));
}

void ManualPage::paragraph(std::string_view markdown) {
  text_ += ".PP\n" + guarded(inline_text(markdown)) + "\n";
}

void ManualPage::item(const std::string& term, std::string_view markdown) {
  text_ += ".TP\n\\fB" + plain(term) + "\\fR\n" + guarded(inline_text(markdown)) + "\n";
}

void ManualPage::verbatim(const std::vector<std::string>& lines) {
  text_ += ".PP\n.RS 4\n.nf\n";
  for (const auto& line : lines) text_ += guarded(plain(line)) + "\n";
  text_ += ".fi\n.RE\n";
}

void ManualPage::markdown(std::string_view text) {
  std::string running;  // a paragraph's lines so far
  const auto end_paragraph = [&] {
    if (!running.empty()) paragraph(running);
    running.clear();
  };
  while (!text.empty()) {
    const auto line = next_line(text);
    const bool apart = line.empty() || line[0] == '#' || line[0] == '|' || line.starts_with("```");
    if (apart) end_paragraph();
    if (line.starts_with("## ")) {
      section(std::string(line.substr(3)));
    } else if (line.starts_with("```")) {
      std::vector<std::string> code;
      for (auto inner = next_line(text); !inner.starts_with("```") && !text.empty(); inner = next_line(text))
        code.emplace_back(inner);
      verbatim(code);
    } else if (line.starts_with("| ") && !text.starts_with("|--")) {
      const auto cells = cells_of(line);
      if (cells.size() == 2) text_ += ".TP\n" + inline_text(cells[0]) + "\n" + guarded(inline_text(cells[1])) + "\n";
    } else if (!apart) {
      running.append(running.empty() ? "" : " ").append(line);
    }
  }
  end_paragraph();
}

}  // namespace krux::cli
