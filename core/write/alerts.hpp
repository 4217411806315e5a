// What the operator must hear of. Rows of the ledger, so that an alert and what it is about become durable together.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/util/clock.hpp"
#include "core/util/error.hpp"

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
  std::string agent_id{};  ///< whose words the message is, or whose write it is about; may be empty
  bool in_agents_words() const;
};

/// "agent reporter says: ...": so that nobody takes an agent's words for the host's. One line, safe to print.
std::string in_agents_words(const std::string& who, const std::string& message);

/// The kind of alerts in an agent's own words.
inline constexpr const char* kAgentMessage = "agent_message";
inline bool Alert::in_agents_words() const {
  return kind == kAgentMessage;
}
/// How many of them an agent may send in an hour, and may have open.
inline constexpr std::int64_t kAgentAlertsPerHour = 20, kOpenAgentAlerts = 50;

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

  /// An agent tells the operator something, in one line of printable text; never "critical". `done` once it is durable,
  /// with the alert; one of the same words that is open stands for both. RateLimited beyond what an agent may send.
  void send(const std::string& agent_id, const std::string& severity, const std::string& message,
            std::function<void(std::variant<Alert, Error>)> done);
  /// In the agent's own words, and about its writes. As list().
  std::vector<Alert> list_for(const std::string& agent_id, bool open_only, std::int64_t limit,
                              std::int64_t before_id = 0) const;
  /// One of its own: InvalidInput where there is no such one.
  void acknowledge_own(std::int64_t id, const std::string& agent_id,
                       std::function<void(std::variant<Alert, Error>)> done);

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
