// How much an adapter may write into the host's log: a full disk is the end of the ledger's commits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "host/plugins/abi_bridge/lent_host.hpp"

namespace krux {

struct LogAllowance {
  std::size_t lines = 1000, bytes = 256 * 1024;
  std::int64_t within_ms = 60'000;  ///< real time: it bounds a real disk
};

/// Counts for each service, whatever its accounts and however often its process ends. Any thread.
class LogLimit {
 public:
  /// `now_ms` rises; tests drive it.
  explicit LogLimit(AdapterLog to, LogAllowance allowance = {}, std::function<std::int64_t()> now_ms = {});

  /// A line of more than 8 KiB is cut. What is too much is counted, and told in one line when its time is over.
  void write(int level, const std::string& service, const std::string& account_id, std::string_view line);
  /// Tells of what was left out where no line has come since.
  void look();

  static AdapterLog log_of(std::shared_ptr<LogLimit> limit);

 private:
  struct Window {
    std::int64_t begin_ms = 0;
    std::size_t lines = 0, bytes = 0, left_out = 0;
  };
  std::size_t renew_locked(Window& window, std::int64_t now_ms) const;
  void tell(const std::string& service, std::size_t left_out) const;

  const AdapterLog to_;
  const LogAllowance allowance_;
  const std::function<std::int64_t()> now_ms_;
  std::mutex mutex_;
  std::map<std::string, Window> windows_;
};

}  // namespace krux
