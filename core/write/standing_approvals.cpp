#include "core/write/standing_approvals.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/audit/outbox.hpp"
#include "core/storage/group_commit.hpp"
#include "core/util/durations.hpp"
#include "core/util/error.hpp"
#include "core/util/ids.hpp"
#include "core/util/json.hpp"
#include "core/util/json_out.hpp"

namespace krux {
namespace {

constexpr const char* kStandingPrefix = "sa_";
constexpr const char* kStandingColumns =
    "SELECT standing_id, agent_id, service, account_id, generation, operation, reaches, asked_by, write_id, "
    "granted_by, "
    "granted_at_ms, until_ms, most, used FROM standing_approvals";
const std::string kInForce = " WHERE ended_at_ms IS NULL AND until_ms > ?1 AND used < most";
/// Nobody asks about one any more whose time has been over for so long.
constexpr std::int64_t kKeptMs = 60 * kDay;

std::string texts_json(const std::vector<std::string>& texts) {
  JsonDocument list(rapidjson::kArrayType);
  for (const auto& text : texts) list.PushBack(JsonValue(text, list.GetAllocator()), list.GetAllocator());
  return to_json(list);
}

std::vector<std::string> texts_of(std::string_view json) {
  const auto list = parse_json(json, "a standing approval", {1 << 20, 4});
  std::vector<std::string> texts;
  for (const auto& entry : list.GetArray()) texts.emplace_back(view(entry));
  return texts;
}

StandingApproval read_standing(const Statement& row) {
  const auto text = [&](int at) { return std::string(row.text(at)); };
  StandingApproval one;
  one.standing_id = text(0);
  one.scope.agent_id = text(1);
  one.scope.account = {text(2), text(3), static_cast<std::uint32_t>(row.integer(4))};
  one.scope.operation = text(5);
  one.scope.reaches = texts_of(row.text(6));
  one.scope.asked_by = texts_of(row.text(7));
  one.write_id = text(8);
  one.granted_by = text(9);
  one.granted_at_ms = row.integer(10);
  one.until_ms = row.integer(11);
  one.most = row.integer(12);
  one.used = row.integer(13);
  return one;
}

std::vector<StandingApproval> all_of(Statement& rows) {
  const ResetAtEnd reset(rows);
  std::vector<StandingApproval> all;
  while (rows.step()) all.push_back(read_standing(rows));
  return all;
}

void tell_of_standing(StatementCache& sql, const char* kind, const StandingApproval& one, const std::string& who,
                      std::int64_t at_ms) {
  const auto& scope = one.scope;
  AuditEntry entry{kind, at_ms, scope.agent_id, scope.account.service, scope.account.account_id, one.write_id, {}};
  entry.body = json_object([&](JsonWriter& out) {
    put(out, "who", who);
    put(out, "standing_id", one.standing_id);
    put(out, "operation", scope.operation);
    put(out, "reaches", scope.reaches);
    put(out, "asked_by", scope.asked_by);
    put(out, "until_ms", one.until_ms);
    put(out, "most", one.most);
    put(out, "used", one.used);
  });
  put_in_outbox(sql, entry);
}

}  // namespace

bool StandingScope::covers(const StandingScope& write) const {
  const auto has_all = [](const auto& all, const auto& some) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
  };
  return agent_id == write.agent_id && account == write.account && operation == write.operation &&
         has_all(reaches, write.reaches) && has_all(asked_by, write.asked_by);
}

void StandingTerms::must_be_bounded() const {
  if (for_ms < kMinute || for_ms > kLongest)
    throw invalid_input("The like can be approved for one minute up to 24 hours.");
  if (most < 1 || most > kMost) throw invalid_input(fmt::format("The like can be approved for 1 to {} writes.", kMost));
}

StandingApprovals::StandingApprovals(GroupCommit& store, Clock& clock)
    : store_(store), clock_(clock), readers_(store.file(), store.kind()) {}

std::vector<StandingApproval> StandingApprovals::of(const std::string& agent_id, const AccountRef& account,
                                                    const std::string& operation) {
  static const auto query =
      kStandingColumns + kInForce +
      " AND agent_id = ?2 AND service = ?3 AND account_id = ?4 AND generation = ?5 AND operation = ?6";
  auto reader = readers_.lease();
  return all_of(reader.sql().get(query).bind_all(clock_.wall_ms(), agent_id, account.service, account.account_id,
                                                 std::int64_t{account.generation}, operation));
}

std::vector<StandingApproval> StandingApprovals::list() {
  static const auto query = kStandingColumns + kInForce + " ORDER BY granted_at_ms DESC, standing_id DESC";
  auto reader = readers_.lease();
  return all_of(reader.sql().get(query).bind_all(clock_.wall_ms()));
}

bool StandingApprovals::end(const std::string& standing_id, const std::string& who) {
  return store_.run([&](SQLite::Database& db) {
    StatementCache sql(db.getHandle());
    const auto now = clock_.wall_ms();
    const auto found = all_of(sql.get(std::string(kStandingColumns) + " WHERE standing_id = ?1").bind_all(standing_id));
    // Also one that is over or used up: what it has let through may still be in its window.
    sql.get(
           "UPDATE standing_approvals SET ended_at_ms = ?2, ended_by = ?3 WHERE standing_id = ?1 AND ended_at_ms IS "
           "NULL")
        .bind_all(standing_id, now, who)
        .run();
    const bool ended = sqlite3_changes(sql.db()) > 0;
    if (ended && !found.empty()) tell_of_standing(sql, "approval.standing_ended", found.front(), who, now);
    return ended;
  });
}

StandingApproval grant_standing(StatementCache& sql, const StandingScope& scope, const StandingTerms& terms,
                                const std::string& write_id, const std::string& who, std::int64_t now_ms) {
  sql.get("DELETE FROM standing_approvals WHERE until_ms < ?1").bind_all(now_ms - kKeptMs).run();
  auto& in_force = sql.get("SELECT count(*) FROM standing_approvals" + kInForce);
  in_force.bind_all(now_ms);
  const ResetAtEnd reset(in_force);
  if (in_force.step() && in_force.integer(0) >= StandingApprovals::kMostInForce)
    throw conflict(
        fmt::format("There are {} standing approvals already, so nothing was decided. End some: kruxos "
                    "approve standing",
                    StandingApprovals::kMostInForce));
  StandingApproval one{
      make_id(kStandingPrefix, now_ms), scope, write_id, who, now_ms, now_ms + terms.for_ms, terms.most, 0};
  sql.get(
         "INSERT INTO standing_approvals (standing_id, agent_id, service, account_id, generation, operation, reaches, "
         "asked_by, write_id, granted_by, granted_at_ms, until_ms, most, used) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
         "?9, ?10, ?11, ?12, ?13, 0)")
      .bind_all(one.standing_id, scope.agent_id, scope.account.service, scope.account.account_id,
                std::int64_t{scope.account.generation}, scope.operation, texts_json(scope.reaches),
                texts_json(scope.asked_by), write_id, who, now_ms, one.until_ms, one.most)
      .run();
  tell_of_standing(sql, "approval.standing", one, who, now_ms);
  return one;
}

std::optional<std::string> use_standing(StatementCache& sql, const std::string& standing_id, std::int64_t now_ms) {
  sql.get(
         "UPDATE standing_approvals SET used = used + 1 WHERE standing_id = ?1 AND ended_at_ms IS NULL AND until_ms > "
         "?2 AND used < most")
      .bind_all(standing_id, now_ms)
      .run();
  if (sqlite3_changes(sql.db()) == 0) return std::nullopt;
  auto& row = sql.get("SELECT granted_by FROM standing_approvals WHERE standing_id = ?1").bind_all(standing_id);
  const ResetAtEnd reset(row);
  if (!row.step()) return std::nullopt;
  return std::string(row.text(0));
}

void end_all_standing(StatementCache& sql, const std::string& who, std::int64_t now_ms) {
  sql.get("UPDATE standing_approvals SET ended_at_ms = ?1, ended_by = ?2 WHERE ended_at_ms IS NULL")
      .bind_all(now_ms, who)
      .run();
}

bool is_standing_ended(StatementCache& sql, const std::string& standing_id) {
  auto& row = sql.get("SELECT 1 FROM standing_approvals WHERE standing_id = ?1 AND ended_at_ms IS NOT NULL")
                  .bind_all(standing_id);
  const ResetAtEnd reset(row);
  return row.step();
}

}  // namespace krux
