#include "host/http/agent_pace.hpp"

#include <algorithm>

namespace krux {
namespace {

constexpr std::int64_t kTidyEveryUs = 10'000'000;

}  // namespace

std::int64_t AgentPace::hold_ms(const std::string& who, std::size_t messages, std::int64_t now_ms) {
  const auto now = now_ms * 1000;
  const auto cost = static_cast<std::int64_t>(messages) * 1'000'000 / limits_.a_second;
  const auto free = limits_.at_once * 1'000'000 / limits_.a_second;
  const auto most = free + limits_.most_ms * 1000;
  const std::lock_guard lock(mutex_);
  if (now >= next_tidy_us_) {
    std::erase_if(paid_until_us_, [now](const auto& one) { return one.second <= now; });
    next_tidy_us_ = now + kTidyEveryUs;
  }
  auto& until = paid_until_us_[who];
  until = std::min(std::max(until, now) + cost, now + most);
  return std::max<std::int64_t>(0, until - now - free) / 1000;
}

}  // namespace krux
