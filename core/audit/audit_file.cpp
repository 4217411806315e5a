#include "core/audit/audit_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

#include "core/audit/chain.hpp"
#include "core/audit/signing_key.hpp"
#include "core/storage/database.hpp"
#include "core/util/error.hpp"
#include "core/util/fault_point.hpp"
#include "core/util/ids.hpp"
#include "core/util/json_out.hpp"

namespace krux {
namespace {

void bind_nonempty(Statement& statement, int index, std::string_view text) {
  if (text.empty()) {
    statement.bind(index, nullptr);
  } else {
    statement.bind(index, text);
  }
}

}  // namespace

FilePlace place_of(const std::filesystem::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

AuditFile::AuditFile(const std::filesystem::path& file, std::int64_t now_ms)
    : db_(open_database(file, kAuditKind, is_large(file))), sql_(db_->getHandle()) {
  read_head();
  if (log_id_.empty()) begin_log(now_ms);
}

void AuditFile::read_head() {
  auto& row = sql_->get("SELECT log_id, source, head_seq, head_hash, key FROM log");
  const ResetAtEnd reset(row);
  if (!row.step()) return;
  log_id_ = row.text(0);
  source_ = row.integer(1);
  head_ = {row.integer(2), hash_of_blob(row.blob(3)).value_or(AuditHash{})};
  key_ = row.text(4);
}

std::int64_t AuditFile::last_ms() {
  auto& row = sql_->get("SELECT at_ms FROM entries ORDER BY seq DESC LIMIT 1");
  const ResetAtEnd reset(row);
  return row.step() ? row.integer(0) : 0;
}

bool AuditFile::knows(const AuditHead& known) {
  auto& row = sql_->get("SELECT seq, hash FROM entries WHERE seq >= ?1 ORDER BY seq LIMIT 1");
  row.bind_all(known.seq);
  const ResetAtEnd reset(row);
  if (!row.step()) return false;
  if (row.integer(0) == known.seq) return hash_of_blob(row.blob(1)) == known.hash;
  auto& before = sql_->get("SELECT 1 FROM entries WHERE seq < ?1 LIMIT 1");
  before.bind_all(known.seq);
  const ResetAtEnd reset_before(before);
  return !before.step();
}

bool AuditFile::has(std::string_view kind, std::string_view body) {
  auto& row = sql_->get("SELECT 1 FROM entries WHERE kind = ?1 AND body = ?2 LIMIT 1");
  row.bind_all(kind, body);
  const ResetAtEnd reset(row);
  return row.step();
}

void AuditFile::begin_log(std::int64_t now_ms) {
  auto log_id = random_hex(16);
  const auto begun = own_entry("log.begun", now_ms, fmt::format(R"({{"format":1,"log_id":"{}"}})", log_id));
  Transaction transaction(db_->getHandle());
  const AuditHead before{0, first_prev(log_id)};
  auto& row = sql_->get("INSERT INTO log (one, log_id, source, head_seq, head_hash, key) VALUES (1, ?1, 0, 0, ?2, '')");
  row.bind(1, log_id);
  row.bind_blob(2, blob_of(before.hash));
  row.run();
  const auto head = insert({begun}, before);
  note(head, 0);
  transaction.commit();
  log_id_ = std::move(log_id);
  head_ = head;
}

AuditHead AuditFile::insert(const std::vector<SourcedEntry>& entries, AuditHead head) {
  auto& row = sql_->get(
      "INSERT INTO entries (seq, at_ms, source, kind, agent_id, service, account_id, write_id, body, prev, hash) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
  for (const auto& entry : entries) {
    const auto seq = head.seq + 1;
    const auto hash = chain_hash(head.hash, {seq, entry.at_ms, entry.source, entry.kind, entry.agent_id, entry.service,
                                             entry.account_id, entry.write_id, entry.body});
    row.reset();
    row.bind(1, seq);
    row.bind(2, entry.at_ms);
    row.bind(3, entry.source);
    row.bind(4, entry.kind);
    bind_nonempty(row, 5, entry.agent_id);
    bind_nonempty(row, 6, entry.service);
    bind_nonempty(row, 7, entry.account_id);
    bind_nonempty(row, 8, entry.write_id);
    row.bind(9, entry.body);
    row.bind_blob(10, blob_of(head.hash));
    row.bind_blob(11, blob_of(hash));
    row.run();
    head = {seq, hash};
  }
  return head;
}

void AuditFile::note(const AuditHead& head, std::int64_t source) {
  auto& state = sql_->get("UPDATE log SET source = ?1, head_seq = ?2, head_hash = ?3");
  state.bind(1, source);
  state.bind(2, head.seq);
  state.bind_blob(3, blob_of(head.hash));
  state.run();
}

void AuditFile::append(const std::vector<SourcedEntry>& entries, std::int64_t source) {
  Transaction transaction(db_->getHandle());
  const auto head = insert(entries, head_);
  note(head, source);
  KRUX_FAULT_POINT("audit.append.before_commit");
  transaction.commit();
  KRUX_FAULT_POINT("audit.append.after_commit");
  head_ = head;
  source_ = source;
}

void AuditFile::change_key(const SigningKey& next, const SigningKey* before, std::int64_t now_ms) {
  const auto body = json_object([&](JsonWriter& out) {
    put(out, "public", next.public_hex());
    if (!key_.empty()) put(out, "replaces", key_);
    if (before) put(out, "signature", before->sign(signed_key(log_id_, next.public_hex())));
  });
  Transaction transaction(db_->getHandle());
  const auto head = insert({own_entry("log.key", now_ms, body)}, head_);
  note(head, source_);
  sql_->get("UPDATE log SET key = ?1").bind_all(next.public_hex()).run();
  KRUX_FAULT_POINT("audit.key.before_commit");
  transaction.commit();
  KRUX_FAULT_POINT("audit.key.after_commit");
  head_ = head;
  key_ = next.public_hex();
}

std::int64_t AuditFile::cut(std::int64_t before_ms, std::int64_t most, const SigningKey& key, std::int64_t now_ms) {
  AuditHead last;
  std::int64_t rows = 0;
  {
    auto& old = sql_->get("SELECT seq, at_ms, hash FROM entries WHERE seq < ?1 ORDER BY seq LIMIT ?2");
    old.bind_all(head_.seq, most);
    const ResetAtEnd reset(old);
    for (std::int64_t seen = 1; old.step(); ++seen) {
      const auto at_ms = old.integer(1);
      if (at_ms > now_ms) continue;
      if (at_ms >= before_ms) break;
      last = {old.integer(0), hash_of_blob(old.blob(2)).value_or(AuditHash{})};
      rows = seen;
    }
  }
  if (rows == 0) return 0;
  const auto body = json_object([&](JsonWriter& out) {
    put(out, "through", last.seq);
    put(out, "hash", hash_hex(last.hash));
    put(out, "key", key.public_hex());
    put(out, "signature", key.sign(signed_cut(log_id_, last.seq, hash_hex(last.hash))));
  });
  Transaction transaction(db_->getHandle());
  const auto head = insert({own_entry("log.cut", now_ms, body)}, head_);
  note(head, source_);
  sql_->get("DELETE FROM entries WHERE seq <= ?1").bind_all(last.seq).run();
  KRUX_FAULT_POINT("audit.cut.before_commit");
  transaction.commit();
  KRUX_FAULT_POINT("audit.cut.after_commit");
  head_ = head;
  return rows;
}

}  // namespace krux
