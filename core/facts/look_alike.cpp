#include "core/facts/look_alike.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace krux {
namespace {

constexpr std::size_t kShort = 8, kLongest = 253;

bool is_below(std::string_view domain, std::string_view parent) {
  return domain.size() > parent.size() && domain.ends_with(parent) && domain[domain.size() - parent.size() - 1] == '.';
}

/// Of optimal string alignment.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

}  // namespace

bool looks_like(std::string_view domain, std::string_view from) {
  if (domain.empty() || from.empty() || domain == from) return false;
  if (domain.size() > kLongest || from.size() > kLongest || is_below(domain, from) || is_below(from, domain))
    return false;
  const std::size_t most = std::min(domain.size(), from.size()) <= kShort ? 1 : 2;
  const auto longer = std::max(domain.size(), from.size()), shorter = std::min(domain.size(), from.size());
  return longer - shorter <= most && distance(domain, from) <= most;
}

}  // namespace krux
