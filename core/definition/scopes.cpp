#include "core/definition/scopes.hpp"

#include <algorithm>

namespace krux {

std::vector<std::string> with_implied(const ImpliedScopes& implied, const std::vector<std::string>& granted) {
  std::vector<std::string> all;
  auto next = granted;
  while (!next.empty()) {
    const auto scope = std::move(next.back());
    next.pop_back();
    if (std::find(all.begin(), all.end(), scope) != all.end()) continue;
    const auto at = implied.find(scope);
    if (at != implied.end()) next.insert(next.end(), at->second.begin(), at->second.end());
    all.push_back(scope);
  }
  return all;
}

std::vector<std::string> missing_from(const ImpliedScopes& implied, const std::vector<std::string>& granted,
                                      const std::vector<std::string>& wanted) {
  const auto all = implied.empty() ? granted : with_implied(implied, granted);
  std::vector<std::string> missing;
  for (const auto& scope : wanted) {
    if (std::find(all.begin(), all.end(), scope) == all.end()) missing.push_back(scope);
  }
  return missing;
}

}  // namespace krux
