#include "readable.hpp"

#include <algorithm>

namespace gmail {
namespace {

constexpr std::size_t kMostBoundaries = 10'000, kMostFields = 20'000, kMostFieldBytes = 2 * 1024 * 1024;

bool is_name_character(char c) {
  return c > ' ' && c < '\x7f' && c != ':';
}

bool looks_like_field(std::string_view line) {
  const auto* const end = std::find_if_not(line.begin(), line.end(), is_name_character);
  return end != line.begin() && end != line.end() && *end == ':';
}

}  // namespace

std::size_t readable_bytes(std::string_view raw) {
  std::size_t boundaries = 0, fields = 0, field_bytes = 0;
  bool within_fields = true, after_blank = false;
  for (std::size_t at = 0; at < raw.size();) {
    const auto next = std::min(raw.find('\n', at), raw.size() - 1) + 1;
    const auto line = raw.substr(at, next - at);
    const bool blank = line == "\n" || line == "\r\n";
    const bool boundary = line.starts_with("--");
    if (boundary) ++boundaries;
    // A mail within a mail begins where a text would: behind a blank line.
    if (boundary || (after_blank && looks_like_field(line))) within_fields = true;
    if (blank) within_fields = false;
    if (within_fields && !boundary) {
      ++fields;
      field_bytes += line.size();
    }
    if (boundaries > kMostBoundaries || fields > kMostFields || field_bytes > kMostFieldBytes) return at;
    after_blank = blank;
    at = next;
  }
  return raw.size();
}

}  // namespace gmail
