#include "core/util/nearest.hpp"

#include <algorithm>

namespace krux {
namespace {

constexpr std::size_t kLongestCompared = 64;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view given, const std::vector<std::string>& known) {
  if (given.size() > kLongestCompared) return {};
  const std::string* best = nullptr;
  std::size_t fewest = 0;
  for (const auto& name : known) {
    if (name.size() > kLongestCompared) continue;
    const auto edits = edits_between(given, name);
    const auto allowed = std::max<std::size_t>(1, std::max(given.size(), name.size()) / 3);
    if (edits <= allowed && (!best || edits < fewest)) {
      best = &name;
      fewest = edits;
    }
  }
  return best ? *best : std::string();
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  const auto name = nearest_name(given, known);
  return name.empty() ? std::string() : " (did you mean \"" + name + "\"?)";
}

}  // namespace krux
