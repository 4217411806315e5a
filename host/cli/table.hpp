// Aligned columns, as wide as a terminal at most; where that is too narrow for them, a few lines for each row. Every
// text passes through krux::printable(): what a service or an agent said cannot steer the terminal.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/cli/terminal.hpp"

namespace krux::cli {

enum class Style { kPlain, kBold, kDim, kGood, kWarn, kBad };

struct Cell {
  Cell(std::string t, Style s = Style::kPlain) : text(std::move(t)), style(s) {}
  Cell(const char* t, Style s = Style::kPlain) : text(t), style(s) {}
  Cell(std::string_view t, Style s = Style::kPlain) : text(t), style(s) {}
  std::string text;
  Style style;
};

struct Column {
  std::string title;
  bool right = false;     ///< numbers
  bool flexible = false;  ///< gives way where the line is too long
  bool id = false;        ///< gives way first, down to what tells it from the others
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row);
  bool empty() const { return rows_.empty(); }
  void print(Console& console) const;

 private:
  /// Nothing where the terminal is too narrow for lines.
  std::optional<std::vector<int>> widths(Console& console) const;
  int width_for_ids(std::size_t column) const;
  void print_in_lines(Console& console, const std::vector<int>& widths) const;
  /// A few lines for each row.
  void print_folded(Console& console) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;  ///< printable
};

/// "label  value" lines under each other; long values go on in the next line.
class Listing {
 public:
  void add(std::string label, Cell value);
  /// Nothing when `value` is empty.
  void add_unless_empty(std::string label, Cell value);
  void print(Console& console) const;

 private:
  std::vector<std::pair<std::string, Cell>> lines_;
};

inline Column id_column(const char* title) {
  return {title, false, false, true};
}
/// How many bytes of each tell it from the others, and probably from those that are not among them.
std::size_t enough_of_ids(const std::vector<std::string>& ids);

/// Columns that a terminal needs for printable text (CJK and emoji take two).
int display_width(std::string_view text);
/// At most `width` columns, "…" at its end where something was cut off.
std::string fit(std::string_view text, int width);
/// Lines of at most `width` columns, broken at spaces where there are some.
std::vector<std::string> wrap(std::string_view text, int width);
/// `text` in the style's colours where the console's standard output has them; the text is taken as it is.
std::string styled(const Console& console, std::string_view text, Style style);
/// The same for standard error.
std::string styled_error(const Console& console, std::string_view text, Style style);

}  // namespace krux::cli
