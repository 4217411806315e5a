#include "core/write/acceptances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/audit/outbox.hpp"
#include "core/util/error.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "core/write/ledger_audit.hpp"
#include "core/write/ledger_history.hpp"

namespace krux {
namespace {

constexpr const char *kAcceptedByOne = "accepted_by_one", *kAcceptancesVoid = "acceptances_void";

std::vector<std::string> names_of(const std::vector<Acceptance>& all) {
  std::vector<std::string> names;
  for (const auto& one : all) names.push_back(one.who);
  return names;
}

std::string joined_names(const std::vector<Acceptance>& all) {
  std::string joined;
  for (const auto& one : all) joined += (joined.empty() ? "" : ", ") + one.who;
  return joined;
}

/// "ann", of "operator:ann".
std::string_view name_in(std::string_view who) {
  return who.substr(who.find(':') + 1);
}

std::string still_needed(std::int64_t left) {
  return left == 1 ? "one more person is needed" : fmt::format("{} more people are needed", left);
}

void put_in_log(StatementCache& sql, const char* event, const WriteRecord& w, std::int64_t at_ms,
                const std::function<void(JsonWriter&)>& more) {
  AuditEntry entry{audit_kind(event), at_ms, w.agent_id, w.account.service, w.account.account_id, w.write_id, {}};
  entry.body = json_object([&](JsonWriter& out) {
    put(out, "from", to_string(w.state));
    put(out, "to", to_string(w.state));
    put(out, "content_hash", w.content_hash);
    more(out);
  });
  put_in_outbox(sql, entry);
}

}  // namespace

void add_acceptance(StatementCache& sql, const WriteRecord& write, const DecidingOperator& by, std::int64_t now_ms) {
  if (by.operator_id.empty()) return;
  sql.get("DELETE FROM acceptances WHERE write_seq = ?1 AND operator_id = ?2")
      .bind_all(write.seq, by.operator_id)
      .run();
  sql.get(
         "INSERT INTO acceptances (write_seq, operator_id, content_hash, accepted_at_ms) "
         "SELECT ?1, operator_id, ?3, ?4 FROM operators WHERE operator_id = ?2")
      .bind_all(write.seq, by.operator_id, write.content_hash, now_ms)
      .run();
  if (sqlite3_changes(sql.db()) > 0) return;
  throw Error(ErrorCode::kNotAuthenticated,
              printable(by.who) + " is no operator of this host any more. Nothing was decided.")
      .with_context(R"({"needs":"grant"})");
}

std::vector<Acceptance> acceptances_of(StatementCache& sql, const WriteRecord& write) {
  auto& rows = sql.get(
      "SELECT o.operator_id, o.name, a.accepted_at_ms FROM acceptances a JOIN operators o ON o.operator_id = "
      "a.operator_id WHERE a.write_seq = ?1 AND a.content_hash = ?2 ORDER BY a.accepted_at_ms, o.name");
  rows.bind_all(write.seq, write.content_hash);
  const ResetAtEnd reset(rows);
  std::vector<Acceptance> all;
  while (rows.step()) all.push_back({std::string(rows.text(0)), operator_who(rows.text(1)), rows.integer(2)});
  return all;
}

void void_acceptances(StatementCache& sql, const WriteRecord& before, const std::string& who, std::int64_t now_ms) {
  const auto given = acceptances_of(sql, before);
  sql.get("DELETE FROM acceptances WHERE write_seq = ?1").bind_all(before.seq).run();
  if (given.empty() || before.approvals_needed < 2) return;
  const auto message = fmt::format("Edited: what {} had accepted was another content.", joined_names(given));
  add_to_history(sql, before.seq, {"decision", before.attempts, now_ms, now_ms, kAcceptancesVoid, {}, message, who});
  put_in_log(sql, kAcceptancesVoid, before, now_ms, [&](JsonWriter& out) {
    put(out, "who", who);
    put(out, "accepted_by", names_of(given));
  });
}

void tell_of_acceptance(StatementCache& sql, const WriteRecord& write, const DecidingOperator& by, std::size_t given,
                        std::int64_t now_ms) {
  const auto message = fmt::format("{} of {}.", given, write.approvals_needed);
  add_to_history(sql, write.seq, {"decision", write.attempts, now_ms, now_ms, kAcceptedByOne, {}, message, by.who});
  put_in_log(sql, kAcceptedByOne, write, now_ms, [&](JsonWriter& out) {
    put(out, "who", by.who);
    put(out, "approvals", static_cast<std::int64_t>(given));
    put(out, "approvals_needed", write.approvals_needed);
  });
}

std::string acceptances_in_words(std::int64_t needed, const std::vector<std::string>& given) {
  if (needed < 2) return {};
  if (given.empty()) return fmt::format("{} people must accept it, and nobody has yet.", needed);
  std::string names;
  for (const auto& who : given) names += (names.empty() ? "" : ", ") + printable(name_in(who));
  const auto left = needed - static_cast<std::int64_t>(given.size());
  return left > 0 ? fmt::format("Accepted by {}; {}.", names, still_needed(left))
                  : fmt::format("Accepted by {}.", names);
}

std::string acceptances_in_short(std::int64_t needed, std::size_t given) {
  return needed < 2 ? std::string() : fmt::format("{} of {}", given, needed);
}

void must_be_known(const WriteRecord& write, const DecidingOperator& by) {
  if (!by.operator_id.empty()) return;
  throw Error(ErrorCode::kNotAuthenticated,
              fmt::format("{} people must accept this write, and people at one socket are told apart by their "
                          "passphrases alone: it needs yours, which POST /v1/operator/grant takes. Nothing was "
                          "decided. Operators are added with: kruxos operator add NAME",
                          write.approvals_needed))
      .with_context(R"({"needs":"grant"})");
}

void must_be_another(const WriteRecord& write, const DecidingOperator& by, const std::vector<Acceptance>& given) {
  const auto same = std::find_if(given.begin(), given.end(),
                                 [&](const Acceptance& one) { return one.operator_id == by.operator_id; });
  if (same == given.end()) return;
  throw conflict(fmt::format("You ({}) have accepted it already, at {}. Nothing has changed: {}, each of them somebody "
                             "else.",
                             printable(by.who), format_time(same->accepted_at_ms),
                             still_needed(write.approvals_needed - static_cast<std::int64_t>(given.size()))))
      .with_context(fmt::format(R"({{"write_id":{},"approvals_needed":{},"approvals":{}}})",
                                json_string(write.write_id), write.approvals_needed, given.size()));
}

}  // namespace krux
