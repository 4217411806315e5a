#include "lines.hpp"

#include <algorithm>

#include "text.hpp"

namespace mcp {
namespace {

constexpr std::size_t kKeptOfLine = 1000, kShownOfLine = 300;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

bool Lines::add(std::string_view piece, const std::function<void(std::string_view)>& each) {
  for (auto end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
    if (begun_.size() + end > longest_) return false;
    if (begun_.empty()) {
      each(piece.substr(0, end));
    } else {
      begun_.append(piece.substr(0, end));
      each(begun_);
      std::string().swap(begun_);  // a long one is not kept room for
    }
    piece.remove_prefix(end + 1);
  }
  if (begun_.size() + piece.size() > longest_) return false;
  begun_.append(piece);
  return true;
}

void LastLine::add(std::string_view piece) {
  while (!piece.empty()) {
    const auto end = std::min(piece.find('\n'), piece.size());
    begun_.append(piece.substr(0, std::min(end, kKeptOfLine - std::min(kKeptOfLine, begun_.size()))));
    if (end == piece.size()) return;
    if (!is_blank(begun_)) last_ = begun_;
    begun_.clear();
    piece.remove_prefix(end + 1);
  }
}

std::string LastLine::text() const {
  return one_line(is_blank(begun_) ? last_ : begun_, kShownOfLine);
}

}  // namespace mcp
