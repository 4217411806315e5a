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

namespace krux {
namespace {

std::string text(const Statement& row, int column) {
  return std::string(row.text(column));
}

}  // namespace

void insert_alert(sqlite3* db, const NewAlert& alert, std::int64_t now_ms) {
  Statement insert(db,
                   "INSERT INTO alerts (raised_at_ms, severity, kind, service, account_id, write_id, message) "
                   "SELECT ?1, ?2, ?3, ?4, ?5, nullif(?6, ''), ?7 WHERE ?8 = 0 OR NOT EXISTS (SELECT 1 FROM alerts "
                   "WHERE kind = ?3 AND service = ?4 AND account_id = ?5 AND (?6 = '' OR write_id = ?6) AND "
                   "acknowledged_at_ms IS NULL)");
  insert
      .bind_all(now_ms, alert.severity, alert.kind, alert.service, alert.account_id, alert.write_id, alert.message,
                alert.once ? 1 : 0)
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
  Statement rows(db->getHandle(),
                 "SELECT id, raised_at_ms, acknowledged_at_ms, severity, kind, service, account_id, write_id, message, "
                 "acknowledged_by FROM alerts WHERE id < ?1 AND (?2 = 0 OR acknowledged_at_ms IS NULL) "
                 "ORDER BY id DESC LIMIT ?3");
  rows.bind_all(before_id > 0 ? before_id : std::numeric_limits<std::int64_t>::max(), open_only ? 1 : 0,
                std::clamp<std::int64_t>(limit, 1, 500));
  std::vector<Alert> alerts;
  while (rows.step()) {
    alerts.push_back({rows.integer(0), rows.integer(1), rows.integer(2), text(rows, 3), text(rows, 4), text(rows, 5),
                      text(rows, 6), text(rows, 7), text(rows, 8), text(rows, 9)});
  }
  return alerts;
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
