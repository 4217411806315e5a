#include "host/plugins/abi_bridge/log_limit.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <vector>

#include "host/plugins/abi_bridge/limits.hpp"

namespace krux {
namespace {

std::int64_t real_now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// At the end of a character.
std::string_view cut(std::string_view line) {
  if (line.size() <= limits::kLongestLogLine) return line;
  std::size_t end = limits::kLongestLogLine;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
  return line.substr(0, end);
}

}  // namespace

LogLimit::LogLimit(AdapterLog to, LogAllowance allowance, std::function<std::int64_t()> now_ms)
    : to_(std::move(to)), allowance_(allowance), now_ms_(now_ms ? std::move(now_ms) : real_now_ms) {}

/// How many lines of the time before were left out, where that is over.
std::size_t LogLimit::renew_locked(Window& window, std::int64_t now_ms) const {
  if (now_ms - window.begin_ms < allowance_.within_ms) return 0;
  const auto left_out = window.left_out;
  window = {now_ms, 0, 0, 0};
  return left_out;
}

void LogLimit::tell(const std::string& service, std::size_t left_out) const {
  if (left_out == 0) return;
  to_(KRUX_LOG_WARN, service, "",
      fmt::format("{} lines of this adapter were left out: it may write {} lines, or {} KiB, in {} s.", left_out,
                  allowance_.lines, allowance_.bytes / 1024, allowance_.within_ms / 1000));
}

void LogLimit::write(int level, const std::string& service, const std::string& account_id, std::string_view line) {
  if (!is_logged(level)) return;  // it costs nothing
  line = cut(line);
  std::size_t left_out = 0;
  bool passes = false;
  {
    const std::lock_guard lock(mutex_);
    const auto now = now_ms_();
    auto& window = windows_.try_emplace(service, Window{now, 0, 0, 0}).first->second;
    left_out = renew_locked(window, now);
    passes = window.lines < allowance_.lines && window.bytes + line.size() <= allowance_.bytes;
    if (passes) {
      ++window.lines;
      window.bytes += line.size();
    } else {
      ++window.left_out;
    }
  }
  tell(service, left_out);
  if (passes) to_(level, service, account_id, line);
}

void LogLimit::look() {
  std::vector<std::pair<std::string, std::size_t>> over;
  {
    const std::lock_guard lock(mutex_);
    const auto now = now_ms_();
    for (auto& [service, window] : windows_) {
      if (const auto left_out = renew_locked(window, now); left_out > 0) over.emplace_back(service, left_out);
    }
  }
  for (const auto& [service, left_out] : over) tell(service, left_out);
}

AdapterLog LogLimit::log_of(std::shared_ptr<LogLimit> limit) {
  return [limit = std::move(limit)](int level, const std::string& service, const std::string& account_id,
                                    std::string_view line) { limit->write(level, service, account_id, line); };
}

}  // namespace krux
