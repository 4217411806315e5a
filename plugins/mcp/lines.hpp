// What comes in pieces, as lines.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace mcp {

class Lines {
 public:
  explicit Lines(std::size_t longest) : longest_(longest) {}

  /// Calls `each` for every line that is whole now, without its end. False: a line is longer than allowed, and no more
  /// are to be had.
  bool add(std::string_view piece, const std::function<void(std::string_view)>& each);

 private:
  const std::size_t longest_;
  std::string begun_;
};

/// What was said last, of however much.
class LastLine {
 public:
  void add(std::string_view piece);
  /// Cleaned, at most 300 bytes; empty: nothing was said.
  std::string text() const;

 private:
  std::string begun_, last_;
};

}  // namespace mcp
