// Quota units: so many in any 60 seconds of the emulator's time, for each mailbox. A call that is refused for the quota
// costs nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace krux::test::gmail {

class Quota {
 public:
  std::int64_t units_per_minute = 0;          // 0: unlimited
  std::map<std::string, std::int64_t> costs;  // by method, in place of the documented ones

  // Nothing: it is within the quota and counted. Otherwise when there is room again, Unix milliseconds.
  std::optional<std::int64_t> take(const std::string& mailbox, std::int64_t units, std::int64_t now_ms);
  std::int64_t used(const std::string& mailbox) const;            // ever
  std::int64_t max_per_minute(const std::string& mailbox) const;  // the most in any 60 s that were granted

 private:
  struct Account {
    std::deque<std::pair<std::int64_t, std::int64_t>> granted;  // when, units
    std::int64_t in_window = 0, used = 0, most = 0;
  };
  std::map<std::string, Account> accounts_;
};

}  // namespace krux::test::gmail
