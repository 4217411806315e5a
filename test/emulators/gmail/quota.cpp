#include "emulators/gmail/quota.hpp"

#include <algorithm>

namespace krux::test::gmail {
namespace {
constexpr std::int64_t kWindowMs = 60000;
}

std::optional<std::int64_t> Quota::take(const std::string& mailbox, std::int64_t units, std::int64_t now_ms) {
  Account& account = accounts_[mailbox];
  while (!account.granted.empty() && account.granted.front().first <= now_ms - kWindowMs) {
    account.in_window -= account.granted.front().second;
    account.granted.pop_front();
  }
  if (units_per_minute > 0 && account.in_window + units > units_per_minute) {
    return account.granted.empty() ? now_ms + kWindowMs : account.granted.front().first + kWindowMs;
  }
  account.granted.emplace_back(now_ms, units);
  account.in_window += units;
  account.used += units;
  account.most = std::max(account.most, account.in_window);
  return std::nullopt;
}

std::int64_t Quota::used(const std::string& mailbox) const {
  auto found = accounts_.find(mailbox);
  return found == accounts_.end() ? 0 : found->second.used;
}

std::int64_t Quota::max_per_minute(const std::string& mailbox) const {
  auto found = accounts_.find(mailbox);
  return found == accounts_.end() ? 0 : found->second.most;
}

}  // namespace krux::test::gmail
