#include "changes.hpp"

#include <algorithm>

namespace slack {
namespace {

constexpr int kMostFailures = 3;

bool covers(const Change& look, const Change& noted) {
  return noted.channel == look.channel && noted.ts == look.ts && noted.number <= look.number;
}

}  // namespace

void Changes::note(std::string channel, std::string ts, std::string thread_ts, std::int64_t now_ms) {
  if (channel.empty() || ts.empty()) return;
  const std::lock_guard lock(mutex_);
  if (noted_.size() >= kMost) noted_.erase(noted_.begin());
  noted_.push_back({{std::move(channel), std::move(ts), std::move(thread_ts), now_ms, ++last_number_}});
}

std::optional<Change> Changes::next(std::int64_t until_ms, std::int64_t pass) const {
  const std::lock_guard lock(mutex_);
  for (const auto& noted : noted_) {
    if (noted.change.noted_ms > until_ms || noted.put_off_in == pass) continue;
    auto change = noted.change;
    change.number = last_number_;
    return change;
  }
  return std::nullopt;
}

void Changes::settled(const Change& change) {
  const std::lock_guard lock(mutex_);
  std::erase_if(noted_, [&](const Noted& noted) { return covers(change, noted.change); });
}

void Changes::put_off(const Change& change, std::int64_t pass) {
  const std::lock_guard lock(mutex_);
  for (auto& noted : noted_) {
    if (!covers(change, noted.change)) continue;
    noted.put_off_in = pass;
    ++noted.failures;
  }
  std::erase_if(noted_, [](const Noted& noted) { return noted.failures >= kMostFailures; });
}

std::optional<std::int64_t> Changes::oldest_ms() const {
  const std::lock_guard lock(mutex_);
  const auto oldest = std::min_element(noted_.begin(), noted_.end(), [](const Noted& a, const Noted& b) {
    return a.change.noted_ms < b.change.noted_ms;
  });
  return oldest == noted_.end() ? std::nullopt : std::optional(oldest->change.noted_ms);
}

}  // namespace slack
