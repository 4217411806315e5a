#include "core/policy/rules/zone.hpp"

#include <date/tz.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

using Seconds = std::chrono::seconds;
using UnixTime = std::chrono::time_point<std::chrono::system_clock, Seconds>;

constexpr std::int64_t kFirst = 0, kLast = 4'102'444'800;  // 1970 to 2100
constexpr std::size_t kMostChanges = 2000;

/// Names lead to files.
bool is_zone_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '+' || c == '/';
  };
  return !name.empty() && name.size() <= 64 && name.front() != '/' && name.back() != '/' &&
         std::all_of(name.begin(), name.end(), allowed);
}

}  // namespace

std::shared_ptr<const Zone> Zone::named(const std::string& name) {
  const std::shared_ptr<Zone> zone(new Zone);
  zone->name_ = name;
  try {
    if (!is_zone_name(name)) throw std::runtime_error("it is no name");
    const auto* found = date::locate_zone(name);
    for (auto at = UnixTime(Seconds(kFirst)); zone->offsets_.size() < kMostChanges;) {
      const auto info = found->get_info(at);
      zone->offsets_.emplace_back(at.time_since_epoch().count(), info.offset.count());
      if (info.end <= at || info.end.time_since_epoch().count() > kLast) break;
      at = UnixTime(Seconds(info.end.time_since_epoch().count()));
    }
  } catch (const std::exception&) {
    throw ConfigError(
        fmt::format("\"{}\" is no time zone of this system: give a name such as Europe/Berlin or UTC, and install the "
                    "package tzdata "
                    "if it is missing.",
                    printable(name.substr(0, 80))));
  }
  return zone;
}

std::int64_t Zone::offset_s(std::int64_t unix_s) const {
  const auto after = std::upper_bound(offsets_.begin(), offsets_.end(), unix_s,
                                      [](std::int64_t time, const auto& from) { return time < from.first; });
  return after == offsets_.begin() ? offsets_.front().second : (after - 1)->second;
}

}  // namespace krux
