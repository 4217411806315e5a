#include "host/gateway/mcp/tool_profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/util/text.hpp"

namespace krux::mcp {
namespace {

constexpr std::size_t kLongestProfileShown = 100;

std::set<std::string, std::less<>> names_in(std::string_view profile) {
  std::set<std::string, std::less<>> names;
  while (true) {
    const auto comma = profile.find(',');
    if (const auto name = profile.substr(0, comma); !name.empty()) names.emplace(name);
    if (comma == std::string_view::npos) break;
    profile.remove_prefix(comma + 1);
  }
  if (names.empty()) names.emplace("core");
  return names;
}

/// Of the host's own all but what agents note: that is chosen as a service is.
bool is_always_shown(const Listed& listed) {
  return is_hosts_own(listed) && !is_under_rules(listed);
}

/// The places of the core's tools: the host's, then the services' in turn, so that no service takes them all. What
/// agents note has what is left: many have a memory of their own, and none has another way to a service.
std::set<std::size_t> core_of(const std::vector<Offered>& offered) {
  std::set<std::size_t> core;
  std::map<std::string, std::size_t> seen;  // of each service
  std::vector<std::pair<std::size_t, std::size_t>> in_turn;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    const auto& listed = offered[i].listed;
    if (!listed.capability->core) continue;
    if (is_always_shown(listed))
      core.insert(i);
    else
      in_turn.emplace_back(seen[listed.definition->service]++ + (is_hosts_own(listed) ? offered.size() : 0), i);
  }
  std::sort(in_turn.begin(), in_turn.end());
  for (const auto& [round, place] : in_turn) {
    if (core.size() < kMostCore) core.insert(place);
  }
  return core;
}

}  // namespace

std::variant<std::vector<Offered>, std::string> chosen(std::vector<Offered> offered, std::string_view profile,
                                                       const std::vector<std::string>& services) {
  const auto names = names_in(profile);
  for (const auto& name : names) {
    const bool is_service = std::find(services.begin(), services.end(), name) != services.end();
    if (!is_service && name != "core" && name != "all")
      return fmt::format("There is no profile of tools \"{}\". There are: core, all{}{}.",
                         printable(name.substr(0, kLongestProfileShown)), services.empty() ? "" : ", ",
                         fmt::join(services, ", "));
  }
  if (names.contains("all")) return offered;
  const auto core = names.contains("core") ? core_of(offered) : std::set<std::size_t>();
  std::vector<Offered> shown;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    const auto& listed = offered[i].listed;
    const bool by_service =
        is_always_shown(listed) ? !names.contains("core") : names.contains(listed.definition->service);
    if (core.contains(i) || by_service) shown.push_back(std::move(offered[i]));
  }
  return shown;
}

}  // namespace krux::mcp
