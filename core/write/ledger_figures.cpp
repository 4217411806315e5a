#include "core/write/ledger_figures.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "core/write/due_writes.hpp"

namespace krux {
namespace {

using Open = LedgerFigures::Open;

std::string text_of_figure(const Statement& row, int column) {
  return std::string(row.text(column));
}

void read_counters(StatementCache& sql, LedgerFigures& figures) {
  auto& rows = sql.get("SELECT what, n FROM counters WHERE what <> 'commit'");
  const ResetAtEnd reset(rows);
  while (rows.step()) {
    if (rows.text(0) == "held_as_copy") {
      figures.held_as_copy = rows.integer(1);
    } else if (rows.text(0) != "needs_operator") {
      figures.by_state[text_of_figure(rows, 0)] = rows.integer(1);
    }
  }
}

Open& of(LedgerFigures& figures, const std::string& service, const std::string& account_id, const std::string& state) {
  auto& all = figures.open;
  const auto at = std::find_if(all.begin(), all.end(), [&](const Open& open) {
    return open.service == service && open.account_id == account_id && open.state == state;
  });
  return at != all.end() ? *at : all.emplace_back(Open{service, account_id, state});
}

struct Account {
  std::string service, account_id;
  std::int64_t generation = 0;
  bool operator<(const Account& other) const {
    return std::tie(service, account_id, generation) < std::tie(other.service, other.account_id, other.generation);
  }
};
Account account_of(const Statement& row) {
  return {text_of_figure(row, 0), text_of_figure(row, 1), row.integer(2)};
}

/// Writes that stand beside the buffered ones in the index of what is due: those that are tried or looked for again.
using OthersDue = std::map<Account, std::int64_t>;

OthersDue read_open(StatementCache& sql, LedgerFigures& figures) {
  auto& rows = sql.get(
      "SELECT service, account_id, generation, state, count(*), min(coalesce(unknown_since_ms, created_at_ms)), "
      "sum(due_at_ms IS NOT NULL) FROM writes WHERE state IN ('pending_approval', 'held', 'executing', 'unknown', "
      "'dead_letter') AND state <> 'buffered' GROUP BY 1, 2, 3, 4");
  const ResetAtEnd reset(rows);
  OthersDue due;
  while (rows.step()) {
    auto& open = of(figures, text_of_figure(rows, 0), text_of_figure(rows, 1), text_of_figure(rows, 3));
    open.oldest_ms = open.count == 0 ? rows.integer(5) : std::min(open.oldest_ms, rows.integer(5));
    open.count += rows.integer(4);
    due[account_of(rows)] += rows.integer(6);
  }
  return due;
}

/// The account behind `last` in the index of what is due: stepped to, however many writes each has. SQLite would walk
/// through all of them if it were asked for the three columns at once.
std::optional<Account> next_due(StatementCache& sql, const Account& last) {
  static const auto behind = [](const std::string& condition) {
    return "SELECT service, account_id, generation FROM writes INDEXED BY writes_due WHERE due_at_ms IS NOT NULL AND " +
           condition + " ORDER BY service, account_id, generation LIMIT 1";
  };
  static const auto generation = behind("service = ?1 AND account_id = ?2 AND generation > ?3");
  static const auto account = behind("service = ?1 AND account_id > ?2");
  static const auto service = behind("service > ?1");
  auto& by_generation = sql.get(generation).bind_all(last.service, last.account_id, last.generation);
  const ResetAtEnd first(by_generation);
  if (by_generation.step()) return account_of(by_generation);
  auto& by_account = sql.get(account).bind_all(last.service, last.account_id);
  const ResetAtEnd second(by_account);
  if (by_account.step()) return account_of(by_account);
  auto& by_service = sql.get(service).bind_all(last.service);
  const ResetAtEnd third(by_service);
  return by_service.step() ? std::optional(account_of(by_service)) : std::nullopt;
}

void read_due(StatementCache& sql, const OthersDue& others, LedgerFigures& figures) {
  // From the index alone, which is why unknown ones are counted and taken off again.
  auto& waiting = sql.get(
      "SELECT count(*) FROM (SELECT 1 FROM writes INDEXED BY writes_due WHERE service = ?1 AND account_id = ?2 AND "
      "generation = ?3 AND due_at_ms IS NOT NULL LIMIT ?4)");
  const ResetAtEnd reset(waiting);
  const auto paused = paused_agents(sql);
  for (auto at = next_due(sql, {}); at; at = next_due(sql, *at)) {
    const auto besides = others.find(*at);
    waiting.bind_all(at->service, at->account_id, at->generation, LedgerFiguresReader::kMostCounted);
    if (!waiting.step()) continue;
    const auto buffered = waiting.integer(0) - (besides == others.end() ? 0 : besides->second);
    if (buffered > 0) of(figures, at->service, at->account_id, "buffered").count += buffered;
    const AccountRef account{at->service, at->account_id, static_cast<std::uint32_t>(at->generation)};
    for (const auto& due : earliest_due(sql, account, DueFor::kAttempt, paused, 1))
      figures.due.push_back({at->service, at->account_id, due.due_at_ms});
  }
}

void read_needs(StatementCache& sql, LedgerFigures& figures) {
  auto& rows = sql.get(
      "SELECT service, account_id, count(*) FROM writes INDEXED BY writes_need_operator WHERE needs_operator = 1 GROUP "
      "BY "
      "1, 2");
  const ResetAtEnd reset(rows);
  while (rows.step())
    figures.need_decision.push_back({text_of_figure(rows, 0), text_of_figure(rows, 1), rows.integer(2)});
}

void read_alerts(StatementCache& sql, LedgerFigures& figures) {
  auto& rows =
      sql.get("SELECT severity, kind, count(*) FROM alerts WHERE acknowledged_at_ms IS NULL GROUP BY severity, kind");
  const ResetAtEnd reset(rows);
  while (rows.step()) figures.alerts.push_back({text_of_figure(rows, 0), text_of_figure(rows, 1), rows.integer(2)});
  auto& last = sql.get("SELECT max(id) FROM alerts");
  const ResetAtEnd reset_last(last);
  if (last.step()) figures.alerts_raised = last.integer(0);
}

}  // namespace

LedgerFigures LedgerFiguresReader::read() {
  auto reader = readers_.lease();
  auto& sql = reader.sql();
  LedgerFigures figures;
  // One look: what changes between two of the queries would be counted twice, or not at all.
  execute(sql.db(), "BEGIN");
  struct End {
    sqlite3* db;
    ~End() { sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr); }
  } const end{sql.db()};
  read_counters(sql, figures);
  read_due(sql, read_open(sql, figures), figures);
  read_needs(sql, figures);
  read_alerts(sql, figures);
  return figures;
}

}  // namespace krux
