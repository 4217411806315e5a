#include "core/write/alerts.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>

#include "core/storage/database.hpp"
#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger_commit.hpp"
#include "core/write/write.hpp"

namespace krux {
namespace {

constexpr std::int64_t kLongestAlertPage = 500, kHourMs = 3'600'000, kOwnKeptMs = 90 * 86'400'000LL;

std::string text(const Statement& row, int column) {
  return std::string(row.text(column));
}

constexpr const char* kAlertColumns =
    "SELECT id, raised_at_ms, acknowledged_at_ms, severity, kind, service, account_id, write_id, message, "
    "acknowledged_by, agent_id FROM alerts WHERE ";

/// ?1 before which, ?2 open ones alone, ?3 how many; others in the condition.
std::string page_of_alerts(const std::string& condition) {
  return kAlertColumns + condition +
         " AND id < ?1 AND (?2 = 0 OR acknowledged_at_ms IS NULL) ORDER BY id DESC LIMIT ?3";
}

std::int64_t before_alert(std::int64_t id) {
  return id > 0 ? id : std::numeric_limits<std::int64_t>::max();
}

std::vector<Alert> read_alerts(Statement& rows) {
  std::vector<Alert> alerts;
  while (rows.step()) {
    alerts.push_back({rows.integer(0), rows.integer(1), rows.integer(2), text(rows, 3), text(rows, 4), text(rows, 5),
                      text(rows, 6), text(rows, 7), text(rows, 8), text(rows, 9), text(rows, 10)});
  }
  return alerts;
}

std::optional<Alert> first_alert(Statement& rows) {
  auto all = read_alerts(rows);
  if (all.empty()) return std::nullopt;
  return std::move(all.front());
}

std::int64_t first_number(Statement& rows) {
  return rows.step() ? rows.integer(0) : 0;
}

const std::string kOwn = "agent_id = ?1 AND kind = 'agent_message'";

std::optional<Alert> own_alert(sqlite3* db, const std::string& agent_id, std::int64_t id) {
  Statement rows(db, kAlertColumns + kOwn + " AND id = ?2");
  return first_alert(rows.bind_all(agent_id, id));
}

std::optional<Alert> open_alike(sqlite3* db, const std::string& agent_id, const std::string& severity,
                                const std::string& message) {
  Statement rows(db, kAlertColumns + kOwn +
                         " AND severity = ?2 AND message = ?3 AND acknowledged_at_ms IS NULL ORDER BY id DESC LIMIT 1");
  return first_alert(rows.bind_all(agent_id, severity, message));
}

/// Whether an agent may send one more. Throws RateLimited.
void must_have_room(sqlite3* db, const std::string& agent_id, std::int64_t now_ms) {
  // The first of as many as fit: when it is an hour old there is room for another one.
  Statement first(db, "SELECT raised_at_ms FROM alerts WHERE " + kOwn + " ORDER BY id DESC LIMIT 1 OFFSET ?2");
  const auto first_ms = first_number(first.bind_all(agent_id, kAgentAlertsPerHour - 1));
  // Where the clock was set back, an hour and no longer.
  if (const auto left = first_ms == 0 ? 0 : std::min(first_ms + kHourMs - now_ms, kHourMs); left > 0)
    throw Error(ErrorCode::kRateLimited,
                "An agent may send " + std::to_string(kAgentAlertsPerHour) +
                    " alerts in an hour, and this one has. Nothing was sent.",
                true, left);
  Statement open(db, "SELECT count(*) FROM alerts WHERE " + kOwn + " AND acknowledged_at_ms IS NULL");
  if (first_number(open.bind_all(agent_id)) >= kOpenAgentAlerts)
    throw Error(ErrorCode::kRateLimited,
                std::to_string(kOpenAgentAlerts) +
                    " alerts of this agent are open. Nothing was sent: acknowledge those that are settled with "
                    "alerts.acknowledge, or wait for the operator.",
                true, kHourMs);
}

Alert insert_own(sqlite3* db, const std::string& agent_id, const std::string& severity, const std::string& message,
                 std::int64_t now_ms) {
  Statement old(db, "DELETE FROM alerts WHERE " + kOwn + " AND acknowledged_at_ms IS NOT NULL AND raised_at_ms < ?2");
  old.bind_all(agent_id, now_ms - kOwnKeptMs).run();
  Statement row(db,
                "INSERT INTO alerts (raised_at_ms, severity, kind, message, agent_id) VALUES (?1, ?2, ?3, ?4, ?5) "
                "RETURNING id");
  const auto id = first_number(row.bind_all(now_ms, severity, kAgentMessage, message, agent_id));
  return {id, now_ms, 0, severity, kAgentMessage, "", "", "", message, "", agent_id};
}

/// Commits `operation` and hands on what it returns or throws.
void commit_alert(GroupCommit& store, std::function<Alert(sqlite3*)> operation,
                  std::function<void(std::variant<Alert, Error>)> done) {
  const auto alert = std::make_shared<Alert>();
  store.post([alert, operation = std::move(operation)](SQLite::Database& db) { *alert = operation(db.getHandle()); },
             [alert, done = std::move(done)](const std::exception_ptr& problem) {
               if (problem) return done(error_of(problem));
               done(std::move(*alert));
             });
}

}  // namespace

void insert_alert(sqlite3* db, const NewAlert& alert, std::int64_t now_ms) {
  Statement insert(
      db,
      "INSERT INTO alerts (raised_at_ms, severity, kind, service, account_id, write_id, message, agent_id) "
      "SELECT ?1, ?2, ?3, ?4, ?5, nullif(?6, ''), ?7, (SELECT agent_id FROM writes WHERE seq = ?9 AND "
      "write_id = ?6) WHERE ?8 = 0 OR NOT EXISTS (SELECT 1 FROM alerts "
      "WHERE kind = ?3 AND service = ?4 AND account_id = ?5 AND (?6 = '' OR write_id = ?6) AND "
      "acknowledged_at_ms IS NULL)");
  insert
      .bind_all(now_ms, alert.severity, alert.kind, alert.service, alert.account_id, alert.write_id, alert.message,
                alert.once ? 1 : 0, seq_of_id(alert.write_id))
      .run();
}

void close_alerts_of(sqlite3* db, const std::string& write_id, const std::string& who, std::int64_t now_ms) {
  Statement update(db,
                   "UPDATE alerts SET acknowledged_at_ms = ?1, acknowledged_by = ?2 "
                   "WHERE write_id = ?3 AND acknowledged_at_ms IS NULL");
  update.bind_all(now_ms, who, write_id).run();
}

void AlertStore::raise(NewAlert alert) {
  const auto kept = std::make_shared<const NewAlert>(std::move(alert));
  log_event(kept->severity == "critical" ? spdlog::level::err : spdlog::level::warn,
            {kept->kind, kept->service, kept->account_id, "", kept->write_id}, kept->message);
  store_.post([kept, now = clock_.wall_ms()](SQLite::Database& db) { insert_alert(db.getHandle(), *kept, now); },
              [kept](const std::exception_ptr& error) {
                if (error) spdlog::error("alert that could not be stored: {}", printable(kept->message));
              });
}

void AlertStore::settle(const std::string& kind, const std::string& service, const std::string& account_id) {
  store_.post(
      [=, now = clock_.wall_ms()](SQLite::Database& db) {
        Statement update(
            db.getHandle(),
            "UPDATE alerts SET acknowledged_at_ms = ?1, acknowledged_by = 'host' "
            "WHERE kind = ?2 AND (?3 = '' OR (service = ?3 AND account_id = ?4)) AND acknowledged_at_ms IS NULL");
        update.bind_all(now, kind, service, account_id).run();
      },
      [kind](const std::exception_ptr& error) {
        if (error) spdlog::error("alerts of kind {} could not be closed", kind);
      });
}

std::vector<Alert> AlertStore::list(bool open_only, std::int64_t limit, std::int64_t before_id) const {
  const auto db = open_reader(store_.file(), store_.kind());
  Statement rows(db->getHandle(), page_of_alerts("1"));
  rows.bind_all(before_alert(before_id), open_only ? 1 : 0, std::clamp<std::int64_t>(limit, 1, kLongestAlertPage));
  return read_alerts(rows);
}

std::vector<Alert> AlertStore::list_for(const std::string& agent_id, bool open_only, std::int64_t limit,
                                        std::int64_t before_id) const {
  const auto db = open_reader(store_.file(), store_.kind());
  Statement rows(db->getHandle(), page_of_alerts("agent_id = ?4"));
  rows.bind_all(before_alert(before_id), open_only ? 1 : 0, std::clamp<std::int64_t>(limit, 1, kLongestAlertPage),
                agent_id);
  return read_alerts(rows);
}

void AlertStore::send(const std::string& agent_id, const std::string& severity, const std::string& message,
                      std::function<void(std::variant<Alert, Error>)> done) {
  const auto is_new = std::make_shared<bool>(false);
  commit_alert(
      store_,
      [agent_id, severity, message, is_new, now = clock_.wall_ms()](sqlite3* db) {
        auto same = open_alike(db, agent_id, severity, message);
        *is_new = !same;
        if (same) return *std::move(same);
        must_have_room(db, agent_id, now);
        return insert_own(db, agent_id, severity, message, now);
      },
      [is_new, done = std::move(done)](std::variant<Alert, Error> outcome) {
        const auto* alert = std::get_if<Alert>(&outcome);
        if (alert && *is_new)
          log_event(spdlog::level::warn, {kAgentMessage, "", "", alert->agent_id, ""},
                    in_agents_words("agent " + alert->agent_id, alert->message));
        done(std::move(outcome));
      });
}

void AlertStore::acknowledge_own(std::int64_t id, const std::string& agent_id,
                                 std::function<void(std::variant<Alert, Error>)> done) {
  commit_alert(
      store_,
      [id, agent_id, now = clock_.wall_ms()](sqlite3* db) {
        auto own = own_alert(db, agent_id, id);
        if (!own)
          throw invalid_input("There is no alert " + std::to_string(id) +
                              " in your own words; alerts.list shows them.");
        if (own->acknowledged_at_ms != 0) return *std::move(own);
        own->acknowledged_at_ms = now;
        own->acknowledged_by = "agent:" + agent_id;
        Statement update(db, "UPDATE alerts SET acknowledged_at_ms = ?1, acknowledged_by = ?2 WHERE id = ?3");
        update.bind_all(now, own->acknowledged_by, id).run();
        return *std::move(own);
      },
      std::move(done));
}

std::string in_agents_words(const std::string& who, const std::string& message) {
  return who + " says: " + printable(message);
}

bool AlertStore::any_critical() const {
  const auto db = open_reader(store_.file(), store_.kind());
  Statement row(db->getHandle(),
                "SELECT 1 FROM alerts WHERE acknowledged_at_ms IS NULL AND severity = 'critical' LIMIT 1");
  return row.step();
}

void AlertStore::acknowledge(std::int64_t id, const std::string& who) {
  const auto now = clock_.wall_ms();
  store_.run([&](SQLite::Database& db) {
    Statement known(db.getHandle(), "SELECT 1 FROM alerts WHERE id = ?1");
    if (!known.bind_all(id).step()) throw Error(ErrorCode::kNotFound, "There is no alert " + std::to_string(id) + ".");
    Statement update(db.getHandle(),
                     "UPDATE alerts SET acknowledged_at_ms = ?1, acknowledged_by = ?2 "
                     "WHERE id = ?3 AND acknowledged_at_ms IS NULL");
    update.bind_all(now, who, id).run();
  });
}

}  // namespace krux
