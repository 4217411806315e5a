#include "emulators/slack/limits.hpp"

#include <algorithm>

namespace krux::test::slack {
namespace {
constexpr std::int64_t kWindowMs = 60000;
}

bool RateLimits::preset(const std::string& name) {
  if (name != "off" && name != "tiers" && name != "non_marketplace") return false;
  limits_.clear();
  granted_.clear();
  if (name == "off") return true;
  for (const char* method : {"conversations.list", "users.list", "reactions.remove"}) limits_[method] = {20, 0};
  for (const char* method : {"conversations.history", "conversations.replies", "conversations.info", "chat.update",
                             "chat.delete", "reactions.add", "reactions.get", "auth.revoke"}) {
    limits_[method] = {50, 0};
  }
  for (const char* method : {"users.info", "auth.test", "api.test"}) limits_[method] = {100, 0};
  limits_["chat.postMessage"] = {60, 0};
  if (name == "non_marketplace") {
    limits_["conversations.history"] = limits_["conversations.replies"] = {1, 15};
  }
  return true;
}

std::optional<std::int64_t> RateLimits::take(const std::string& method, std::int64_t now_ms) {
  auto limit = limits_.find(method);
  if (limit == limits_.end() || limit->second.per_minute <= 0) return std::nullopt;
  std::deque<std::int64_t>& granted = granted_[method];
  while (!granted.empty() && granted.front() <= now_ms - kWindowMs) granted.pop_front();
  if (static_cast<int>(granted.size()) < limit->second.per_minute) {
    granted.push_back(now_ms);
    return std::nullopt;
  }
  return std::max<std::int64_t>(1, (granted.front() + kWindowMs - now_ms + 999) / 1000);
}

int RateLimits::max_items(const std::string& method) const {
  auto limit = limits_.find(method);
  return limit == limits_.end() ? 0 : limit->second.max_items;
}

}  // namespace krux::test::slack
