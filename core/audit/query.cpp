#include "core/audit/query.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "core/audit/read_row.hpp"
#include "core/storage/database.hpp"
#include "core/storage/statement.hpp"
#include "core/util/json_out.hpp"

namespace krux {
namespace {

std::string selected() {
  return "SELECT " + std::string(kRowColumns) + " FROM entries ";
}

std::vector<AuditRow> read_all(Statement& rows) {
  const ResetAtEnd reset(rows);
  std::vector<AuditRow> found;
  while (rows.step()) {
    const auto [read, prev, hash] = read_chained_row(rows);
    auto& row = found.emplace_back();
    row.seq = read.seq;
    row.at_ms = read.at_ms;
    row.source = read.source;
    row.kind = read.kind;
    row.agent_id = read.agent_id;
    row.service = read.service;
    row.account_id = read.account_id;
    row.write_id = read.write_id;
    row.body = read.body;
    row.prev = prev;
    row.hash = hash;
  }
  return found;
}

std::int64_t bounded(std::int64_t limit) {
  return std::clamp<std::int64_t>(limit, 1, kMostAuditRows);
}

/// seq, source and time, whom it is about.
void put_head(JsonWriter& out, const AuditRow& row) {
  put(out, "seq", row.seq);
  put(out, "at", format_time(row.at_ms));
  put(out, "kind", row.kind);
  for (const auto& [name, value] : {std::pair("agent_id", &row.agent_id), std::pair("service", &row.service),
                                    std::pair("account_id", &row.account_id), std::pair("write_id", &row.write_id)}) {
    if (!value->empty()) put(out, name, *value);
  }
}

}  // namespace

std::vector<AuditRow> find_audit_rows(const std::filesystem::path& file, const AuditFilter& filter) {
  const auto db = open_reader(file, kAuditKind);
  std::string where = "WHERE seq < ?1 AND at_ms >= ?2 AND at_ms < ?3";
  if (!filter.agent_id.empty()) where += " AND agent_id = ?4";
  if (!filter.service.empty()) where += " AND service = ?5";
  if (!filter.write_id.empty()) where += " AND write_id = ?6";
  if (!filter.kind.empty()) where += " AND (kind = ?7 OR substr(kind, 1, length(?7) + 1) = ?7 || '.')";
  Statement rows(db->getHandle(), selected() + where + " ORDER BY seq DESC LIMIT ?8");
  constexpr auto any = std::numeric_limits<std::int64_t>::max();
  rows.bind(1, filter.before_seq > 0 ? filter.before_seq : any);
  rows.bind(2, filter.since_ms);
  rows.bind(3, filter.until_ms > 0 ? filter.until_ms : any);
  if (!filter.agent_id.empty()) rows.bind(4, filter.agent_id);
  if (!filter.service.empty()) rows.bind(5, filter.service);
  if (!filter.write_id.empty()) rows.bind(6, filter.write_id);
  if (!filter.kind.empty()) rows.bind(7, filter.kind);
  rows.bind(8, bounded(filter.limit));
  return read_all(rows);
}

std::vector<AuditRow> audit_rows_after(const std::filesystem::path& file, std::int64_t after, std::int64_t limit) {
  const auto db = open_reader(file, kAuditKind);
  Statement rows(db->getHandle(), selected() + "WHERE seq > ?1 ORDER BY seq LIMIT ?2");
  rows.bind_all(after, bounded(limit));
  return read_all(rows);
}

RowsOfWrite audit_rows_of_write(const std::filesystem::path& file, const std::string& write_id) {
  const auto db = open_reader(file, kAuditKind);
  Statement rows(db->getHandle(),
                 selected() + "WHERE write_id = ?1 AND substr(kind, 1, 6) = 'write.' ORDER BY seq LIMIT ?2");
  rows.bind_all(write_id, kMostRowsOfWrite + 1);
  RowsOfWrite found{read_all(rows)};
  found.more = found.rows.size() > kMostRowsOfWrite;
  if (found.more) found.rows.pop_back();
  return found;
}

void put_audit_row(JsonWriter& out, const AuditRow& row) {
  put_head(out, row);
  put_raw(out, "body", row.body);
}

void put_exported_row(JsonWriter& out, const AuditRow& row) {
  put_head(out, row);
  put(out, "at_ms", row.at_ms);
  put(out, "source", row.source);
  put(out, "body", row.body);
  put(out, "prev", hash_hex(row.prev));
  put(out, "hash", hash_hex(row.hash));
}

}  // namespace krux
