// The check of a ledger that is too large to be checked before the host is ready.
#pragma once

#include <atomic>
#include <filesystem>
#include <thread>

#include "core/write/alerts.hpp"

namespace krux {

/// Reads the whole file once, on a thread of its own; a damaged one raises a critical alert. Files that
/// are not large (is_large()) were checked when they were opened. Ends early when it is destroyed. `alerts` must
/// outlive it.
class LedgerCheck {
 public:
  LedgerCheck(std::filesystem::path ledger, AlertStore& alerts);
  ~LedgerCheck();
  LedgerCheck(const LedgerCheck&) = delete;
  LedgerCheck& operator=(const LedgerCheck&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace krux
