#include "host/gateway/failed_tries.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace krux {

std::optional<std::int64_t> FailedTries::locked_for(const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto at = failures_.find(address);
  if (at == failures_.end()) return std::nullopt;
  auto& times = at->second;
  const auto now = clock_.boot_ms();
  while (!times.empty() && times.front() + limits_.window_ms <= now) times.pop_front();
  if (times.empty())
    failures_.erase(at);
  else if (times.size() >= limits_.tries)
    return times.front() + limits_.window_ms - now;
  return std::nullopt;
}

void FailedTries::failed(const std::string& address) {
  const std::lock_guard lock(mutex_);
  if (!failures_.contains(address)) make_room();
  auto& times = failures_[address];
  times.push_back(clock_.boot_ms());
  if (times.size() > limits_.tries) times.pop_front();
}

void FailedTries::make_room() {
  if (failures_.size() < limits_.addresses) return;
  failures_.erase(std::min_element(failures_.begin(), failures_.end(),
                                   [](const auto& a, const auto& b) { return a.second.back() < b.second.back(); }));
}

std::string tries_key(const std::string& address) {
  in6_addr v6{};
  if (inet_pton(AF_INET6, address.c_str(), &v6) != 1 || IN6_IS_ADDR_V4MAPPED(&v6)) return address;
  std::fill(std::begin(v6.s6_addr) + 8, std::end(v6.s6_addr), std::uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(AF_INET6, &v6, text.data(), text.size());
  return text.data();
}

}  // namespace krux
