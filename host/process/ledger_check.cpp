#include "host/process/ledger_check.hpp"

#include <fmt/format.h>

#include "core/storage/database.hpp"

namespace krux {

LedgerCheck::LedgerCheck(std::filesystem::path ledger, AlertStore& alerts) {
  if (!is_large(ledger)) return;
  thread_ = std::thread([this, file = std::move(ledger), &alerts] {
    if (!is_damaged(file, &stop_)) return;
    const auto message = fmt::format(
        "{} is damaged. Stop the host, keep a copy of the file, and restore it from a backup before you start again.",
        file.string());
    alerts.raise({"critical", "ledger_damaged", "", "", "", message, true});
  });
}

LedgerCheck::~LedgerCheck() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace krux
