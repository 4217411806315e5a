#include "core/state/state_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/json_out.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

struct SpaceUse {
  std::int64_t entries = 0, bytes = 0, floor = 0;
};

struct Present {
  std::int64_t version = 0, bytes = 0, at_ms = 0;
  std::string by;
};

const char* whose(const StateSpace& space) {
  return space.is_shared() ? "The shared state has" : "Your persistent state has";
}

SpaceUse use_of(StatementCache& sql, const StateSpace& space) {
  auto& row = sql.get("SELECT entries, bytes, floor FROM state_spaces WHERE owner = ?1").bind_all(space.owner);
  const ResetAtEnd reset(row);
  if (row.step()) return {row.integer(0), row.integer(1), row.integer(2)};
  sql.get("INSERT INTO state_spaces (owner, entries, bytes, floor) VALUES (?1, 0, 0, 0)").bind_all(space.owner).run();
  return {};
}

void keep_use(StatementCache& sql, const StateSpace& space, const SpaceUse& use) {
  sql.get("UPDATE state_spaces SET entries = ?2, bytes = ?3, floor = ?4 WHERE owner = ?1")
      .bind_all(space.owner, use.entries, use.bytes, use.floor)
      .run();
}

std::optional<Present> present_of(StatementCache& sql, const StateWrite& write) {
  auto& row = sql.get("SELECT version, bytes, set_at_ms, set_by FROM state_entries WHERE owner = ?1 AND name = ?2")
                  .bind_all(write.space.owner, write.key);
  const ResetAtEnd reset(row);
  if (!row.step()) return std::nullopt;
  return Present{row.integer(0), row.integer(1), row.integer(2), std::string(row.text(3))};
}

void must_be_expected(const StateWrite& write, const std::optional<Present>& present) {
  const auto version = present ? present->version : 0;
  if (!write.expected_version || *write.expected_version == version) return;
  const auto found = present ? fmt::format("has version {}", version) : std::string("is not there");
  throw Error(ErrorCode::kVersionConflict,
              fmt::format("\"{}\" {}, and not version {}: somebody else was there before. Nothing was changed. Get it "
                          "again, and give the version that it has then as expected_version (0: it is to be new).",
                          write.key, found, *write.expected_version))
      .with_context(json_object([&](JsonWriter& out) {
        put(out, "key", write.key);
        put(out, "version", version);
        if (present) put(out, "updated_at", format_time(present->at_ms));
      }));
}

std::int64_t first_number(Statement& row) {
  const ResetAtEnd reset(row);
  return row.step() ? row.integer(0) : 0;
}

/// Versions of the key up to `last`. Returns their bytes.
std::int64_t drop_versions(StatementCache& sql, const StateWrite& write, std::int64_t last) {
  const auto bytes = first_number(
      sql.get("SELECT coalesce(sum(bytes), 0) FROM state_versions WHERE owner = ?1 AND name = ?2 AND version <= ?3")
          .bind_all(write.space.owner, write.key, last));
  if (bytes == 0) return 0;
  sql.get("DELETE FROM state_versions WHERE owner = ?1 AND name = ?2 AND version <= ?3")
      .bind_all(write.space.owner, write.key, last)
      .run();
  return bytes;
}

/// The version before becomes one of those that are kept.
void keep_version(StatementCache& sql, const StateWrite& write) {
  sql.get(
         "INSERT INTO state_versions (owner, name, version, value, bytes, set_by, set_at_ms) SELECT owner, name, "
         "version, value, bytes, set_by, set_at_ms FROM state_entries WHERE owner = ?1 AND name = ?2")
      .bind_all(write.space.owner, write.key)
      .run();
}

/// The oldest version that is not a present one; 0: there is none. Returns its bytes.
std::int64_t drop_oldest_version(StatementCache& sql, const StateSpace& space) {
  std::string name;
  std::int64_t version = 0, bytes = 0;
  {
    auto& row = sql.get(
                       "SELECT name, version, bytes FROM state_versions WHERE owner = ?1 ORDER BY set_at_ms, name, "
                       "version LIMIT 1")
                    .bind_all(space.owner);
    const ResetAtEnd reset(row);
    if (!row.step()) return 0;
    name = row.text(0);
    version = row.integer(1);
    bytes = row.integer(2);
  }
  sql.get("DELETE FROM state_versions WHERE owner = ?1 AND name = ?2 AND version = ?3")
      .bind_all(space.owner, name, version)
      .run();
  return bytes;
}

/// Versions before the present ones give way to what is new.
void make_room(StatementCache& sql, const StateSpace& space, SpaceUse& use, const StateLimits& limits) {
  const auto most_keys = space.is_shared() ? limits.shared_keys : limits.agent_keys;
  const auto most_bytes = space.is_shared() ? limits.shared_bytes : limits.agent_bytes;
  if (use.entries > most_keys) throw_full_of_keys(whose(space), most_keys);
  while (use.bytes > most_bytes) {
    const auto freed = drop_oldest_version(sql, space);
    if (freed == 0) throw_full_of_bytes(whose(space), most_bytes);
    use.bytes -= freed;
  }
}

StateWritten set_entry(StatementCache& sql, const StateRequest& request, const StateLimits& limits,
                       const std::optional<Present>& present) {
  const auto& write = request.write;
  const auto& value = *write.value_json;
  const auto bytes = static_cast<std::int64_t>(write.key.size() + value.size());
  auto use = use_of(sql, write.space);
  const auto version = (present ? present->version : use.floor) + 1;
  use.entries += present ? 0 : 1;
  use.bytes += bytes;
  const bool keeps = present && !write.space.is_shared() && limits.versions > 1;
  if (keeps) keep_version(sql, write);
  if (present && !keeps) use.bytes -= present->bytes;
  if (present) use.bytes -= drop_versions(sql, write, version - limits.versions);
  make_room(sql, write.space, use, limits);
  if (present) {
    sql.get(
           "UPDATE state_entries SET version = ?3, value = ?4, bytes = ?5, set_by = ?6, set_at_ms = ?7 WHERE owner = "
           "?1 AND name = ?2")
        .bind_all(write.space.owner, write.key, version, value, bytes, write.agent_id, request.now_ms)
        .run();
  } else {
    sql.get(
           "INSERT INTO state_entries (owner, name, version, value, bytes, set_by, set_at_ms) VALUES (?1, ?2, ?3, ?4, "
           "?5, ?6, ?7)")
        .bind_all(write.space.owner, write.key, version, value, bytes, write.agent_id, request.now_ms)
        .run();
  }
  keep_use(sql, write.space, use);
  return {version, request.now_ms, false};
}

StateWritten delete_entry(StatementCache& sql, const StateRequest& request, const std::optional<Present>& present) {
  if (!present) return {0, request.now_ms, false};
  const auto& write = request.write;
  auto use = use_of(sql, write.space);
  use.entries -= 1;
  use.bytes -= present->bytes + drop_versions(sql, write, present->version);
  use.floor = std::max(use.floor, present->version);
  sql.get("DELETE FROM state_entries WHERE owner = ?1 AND name = ?2").bind_all(write.space.owner, write.key).run();
  keep_use(sql, write.space, use);
  return {present->version, request.now_ms, false};
}

/// How the same call was answered before.
std::optional<StateWritten> receipt_of(StatementCache& sql, const StateRequest& request) {
  auto& row =
      sql.get(
             "SELECT request_hash, version, at_ms FROM state_receipts WHERE agent_id = ?1 AND "
             "idempotency_key = ?2 AND at_ms > ?3")
          .bind_all(request.write.agent_id, request.write.idempotency_key, request.now_ms - StateStore::kReceiptMs);
  const ResetAtEnd reset(row);
  if (!row.step()) return std::nullopt;
  if (row.text(0) != request.hash)
    throw conflict("This idempotency_key was given with another call within the last hour. Nothing was changed.");
  return StateWritten{row.integer(1), row.integer(2), true};
}

void keep_receipt(StatementCache& sql, const StateRequest& request, const StateWritten& written) {
  const auto& write = request.write;
  sql.get("DELETE FROM state_receipts WHERE agent_id = ?1 AND idempotency_key = ?2")
      .bind_all(write.agent_id, write.idempotency_key)
      .run();
  sql.get(
         "INSERT INTO state_receipts (agent_id, idempotency_key, request_hash, version, at_ms) VALUES (?1, ?2, ?3, ?4, "
         "?5)")
      .bind_all(write.agent_id, write.idempotency_key, request.hash, written.version, request.now_ms)
      .run();
}

}  // namespace

StateWritten write_state(StatementCache& sql, const StateRequest& request, const StateLimits& limits) {
  const auto& write = request.write;
  const bool has_key = !write.idempotency_key.empty();
  if (has_key) {
    if (auto before = receipt_of(sql, request)) return *before;
  }
  const auto present = present_of(sql, write);
  must_be_expected(write, present);
  const auto written =
      write.value_json ? set_entry(sql, request, limits, present) : delete_entry(sql, request, present);
  if (has_key) keep_receipt(sql, request, written);
  return written;
}

void forget_receipts(StatementCache& sql, const std::string& agent_id, std::int64_t now_ms) {
  sql.get("DELETE FROM state_receipts WHERE at_ms <= ?1").bind_all(now_ms - StateStore::kReceiptMs).run();
  sql.get(
         "DELETE FROM state_receipts WHERE agent_id = ?1 AND at_ms < (SELECT min(at_ms) FROM (SELECT at_ms FROM "
         "state_receipts WHERE agent_id = ?1 ORDER BY at_ms DESC LIMIT ?2) AS newest)")
      .bind_all(agent_id, StateStore::kReceiptsPerAgent)
      .run();
}

}  // namespace krux
