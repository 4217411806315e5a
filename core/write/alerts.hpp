// What the operator must hear of. Rows of the ledger, so that an alert and what it is about become durable together.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/util/clock.hpp"

namespace krux {

class GroupCommit;

struct NewAlert {
  std::string severity = "critical";          ///< "info", "warning", "critical"
  std::string kind;                           ///< "outcome_absent", "retries_used_up", "not_authenticated", ...
  std::string service, account_id, write_id;  ///< each may be empty
  std::string message;                        ///< a sentence that says what happened and what to do
  bool once = false;  ///< not while one of this kind, service and account (and write, if named) is open
};

struct Alert {
  std::int64_t id = 0, raised_at_ms = 0, acknowledged_at_ms = 0;  ///< 0: not acknowledged
  std::string severity, kind, service, account_id, write_id, message, acknowledged_by;
};

/// Any thread.
class AlertStore {
 public:
  AlertStore(GroupCommit& store, Clock& clock) : store_(store), clock_(clock) {}

  /// Logs it and returns at once; what cannot be stored is in the log alone.
  void raise(NewAlert alert);

  /// What open alerts of this kind, service and account were about is over: they are acknowledged by "host". Returns at
  /// once, like raise(). An empty service is every service and account.
  void settle(const std::string& kind, const std::string& service = {}, const std::string& account_id = {});

  /// Newest first; `before_id` 0: from the newest. Throws krux::Error DatabaseError.
  std::vector<Alert> list(bool open_only, std::int64_t limit = 50, std::int64_t before_id = 0) const;

  /// Whether a critical one is open. Throws krux::Error DatabaseError.
  bool any_critical() const;

  /// Throws krux::Error: NotFound when there is no such alert, DatabaseError. An acknowledged one stays as it is.
  void acknowledge(std::int64_t id, const std::string& who);

 private:
  GroupCommit& store_;
  Clock& clock_;
};

/// Inside a transaction.
void insert_alert(sqlite3* db, const NewAlert& alert, std::int64_t now_ms);
/// What they were about has been settled.
void close_alerts_of(sqlite3* db, const std::string& write_id, const std::string& who, std::int64_t now_ms);

}  // namespace krux
