#include "host/cli/table.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <numeric>
#include <ostream>

#include "core/util/text.hpp"

namespace krux::cli {
namespace {

constexpr int kGap = 2, kNarrowest = 16;
/// Of an id made of a time: two of other milliseconds differ within so much behind its letters.
constexpr std::size_t kDigitsOfTime = 13;

/// The bytes of the character at `at` and the columns it takes.
struct Glyph {
  std::size_t bytes;
  int columns;
};

Glyph glyph_at(std::string_view text, std::size_t at) {
  utf8proc_int32_t c = 0;
  const auto n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                                  static_cast<utf8proc_ssize_t>(text.size() - at), &c);
  if (n <= 0) return {1, 1};
  return {static_cast<std::size_t>(n), utf8proc_charwidth(c)};
}

/// How many bytes fit into `width` columns, combining marks of the last character included.
std::size_t bytes_within(std::string_view text, int width) {
  std::size_t at = 0;
  for (int used = 0; at < text.size();) {
    const auto glyph = glyph_at(text, at);
    if (used + glyph.columns > width) break;
    used += glyph.columns;
    at += glyph.bytes;
  }
  return at;
}

const char* escape_of(Style style) {
  switch (style) {
    case Style::kBold:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kGood:
      return "\x1b[32m";
    case Style::kWarn:
      return "\x1b[33m";
    case Style::kBad:
      return "\x1b[31m";
    case Style::kPlain:
      break;
  }
  return "";
}

std::string in_style(bool colours, std::string_view text, Style style) {
  if (style == Style::kPlain || !colours) return std::string(text);
  return std::string(escape_of(style)).append(text).append("\x1b[0m");
}

std::string padding(int width) {
  return std::string(static_cast<std::size_t>(std::max(0, width)), ' ');
}

}  // namespace

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto glyph = glyph_at(text, at);
    width += glyph.columns;
    at += glyph.bytes;
  }
  return width;
}

std::string fit(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  return std::string(text.substr(0, bytes_within(text, width - 1))) + "…";
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  while (display_width(text) > width) {
    auto end = std::max<std::size_t>(bytes_within(text, width), glyph_at(text, 0).bytes);
    const auto space = text.substr(0, end + 1).rfind(' ');
    if (space != std::string_view::npos && space > 0) end = space;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    if (text.starts_with(' ')) text.remove_prefix(1);
  }
  lines.emplace_back(text);
  return lines;
}

std::string styled(const Console& console, std::string_view text, Style style) {
  return in_style(console.colours(), text, style);
}

std::string styled_error(const Console& console, std::string_view text, Style style) {
  return in_style(console.error_colours(), text, style);
}

std::size_t enough_of_ids(const std::vector<std::string>& ids) {
  auto sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::size_t enough = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    enough = std::max(enough, std::min(sorted[i].size(), sorted[i].rfind('_') + 1 + kDigitsOfTime));
    if (i == 0) continue;
    const auto differs = std::mismatch(sorted[i - 1].begin(), sorted[i - 1].end(), sorted[i].begin(), sorted[i].end());
    enough = std::max(enough, static_cast<std::size_t>(differs.second - sorted[i].begin()) + 1);
  }
  return enough;
}

void Table::add(std::vector<Cell> row) {
  for (auto& cell : row) cell.text = printable(cell.text);
  rows_.push_back(std::move(row));
}

int Table::width_for_ids(std::size_t column) const {
  std::vector<std::string> ids;
  for (const auto& row : rows_) ids.push_back(row[column].text);
  return std::max(static_cast<int>(enough_of_ids(ids)), display_width(columns_[column].title));
}

std::optional<std::vector<int>> Table::widths(Console& console) const {
  std::vector<int> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    int width = display_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i].text));
    widths.push_back(width);
  }
  if (!console.writes_terminal()) return widths;
  const int gaps = kGap * (static_cast<int>(columns_.size()) - 1);
  int excess = std::accumulate(widths.begin(), widths.end(), gaps) - console.width();
  for (std::size_t i = 0; i < columns_.size() && excess > 0; ++i) {
    if (!columns_[i].id) continue;
    const auto given_up = std::max(0, widths[i] - width_for_ids(i));
    widths[i] -= given_up;
    excess -= given_up;
  }
  while (excess > 0) {  // the widest flexible column gives way first
    int* widest = nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].flexible && widths[i] > kNarrowest && (!widest || widths[i] > *widest)) widest = &widths[i];
    }
    if (!widest) return std::nullopt;
    --*widest;
    --excess;
  }
  return widths;
}

void Table::print(Console& console) const {
  if (const auto width = widths(console)) {
    print_in_lines(console, *width);
  } else {
    print_folded(console);
  }
}

void Table::print_in_lines(Console& console, const std::vector<int>& width) const {
  const auto line = [&](const std::vector<Cell>& cells, bool title) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      // What is left of an id is one to type: nothing stands for what was cut off.
      const auto fitted = columns_[i].id && !title ? cells[i].text.substr(0, bytes_within(cells[i].text, width[i]))
                                                   : fit(cells[i].text, width[i]);
      const auto space = padding(width[i] - display_width(fitted));
      const bool last = i + 1 == cells.size();
      if (columns_[i].right) text += space;
      text += styled(console, fitted, cells[i].style);
      if (!last) text += (columns_[i].right ? "" : space) + padding(kGap);
    }
    console.out() << text << "\n";
  };
  std::vector<Cell> titles;
  for (const auto& column : columns_) titles.emplace_back(column.title, Style::kBold);
  line(titles, true);
  for (const auto& row : rows_) line(row, false);
}

void Table::print_folded(Console& console) const {
  const int room = console.width();
  for (const auto& row : rows_) {
    std::string line;
    int used = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      auto text = row[i].text;
      if (text.empty()) continue;
      if (columns_[i].id) text = text.substr(0, bytes_within(text, width_for_ids(i)));
      if (columns_[i].right) text = columns_[i].title + " " + text;
      const int indent = i == 0 ? 0 : kGap;
      text = fit(text, room - indent);
      const int width = display_width(text);
      const bool fits = used > 0 && used + kGap + width <= room;
      if (!fits && used > 0) console.out() << line << "\n";
      if (!fits) line = padding(indent), used = indent;
      if (fits) line += padding(kGap), used += kGap;
      line += styled(console, text, i == 0 && row[i].style == Style::kPlain ? Style::kBold : row[i].style);
      used += width;
    }
    console.out() << line << "\n";
  }
}

void Listing::add(std::string label, Cell value) {
  value.text = printable(value.text);
  lines_.emplace_back(std::move(label), std::move(value));
}

void Listing::add_unless_empty(std::string label, Cell value) {
  if (!value.text.empty()) add(std::move(label), std::move(value));
}

void Listing::print(Console& console) const {
  int label_width = 0;
  for (const auto& [label, value] : lines_) label_width = std::max(label_width, display_width(label));
  const int left = label_width + kGap;
  const int room = console.writes_terminal() ? std::max(20, console.width() - left) : 1 << 30;
  for (const auto& [label, value] : lines_) {
    console.out() << styled(console, label, Style::kDim) << padding(left - display_width(label));
    bool first = true;
    for (const auto& part : wrap(value.text, room)) {
      console.out() << (first ? "" : padding(left)) << styled(console, part, value.style) << "\n";
      first = false;
    }
  }
}

}  // namespace krux::cli
