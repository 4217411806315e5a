// Scopes that include others.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace krux {

using ImpliedScopes = std::map<std::string, std::vector<std::string>>;

/// `granted` and everything that it includes, in turn; none twice.
std::vector<std::string> with_implied(const ImpliedScopes& implied, const std::vector<std::string>& granted);

/// Those of `wanted` that `granted` neither names nor includes.
std::vector<std::string> missing_from(const ImpliedScopes& implied, const std::vector<std::string>& granted,
                                      const std::vector<std::string>& wanted);

}  // namespace krux
