#include "core/write/disconnect_receipts.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/storage/database.hpp"
#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/ids.hpp"

namespace krux {
namespace {

constexpr std::array<std::string_view, 6> kOrder{"sync", "writes", "unknown_writes", "revoke", "token", "replica"};

constexpr const char* kSelectReceipts =
    "SELECT receipt_id, service, account_id, generation, display_name, principal, who, forced, begun_at_ms, "
    "ended_at_ms, outcome, message FROM receipts ";

Receipt read_receipt(const Statement& row) {
  Receipt r;
  r.receipt_id = row.text(0);
  r.service = row.text(1);
  r.account_id = row.text(2);
  r.generation = static_cast<std::uint32_t>(row.integer(3));
  r.display_name = row.text(4);
  r.principal = row.text(5);
  r.who = row.text(6);
  r.forced = row.integer(7) != 0;
  r.begun_at_ms = row.integer(8);
  r.ended_at_ms = row.integer(9);
  r.outcome = row.text(10);
  r.message = row.text(11);
  return r;
}

std::vector<Receipt> read_all(Statement& rows) {
  std::vector<Receipt> all;
  while (rows.step()) all.push_back(read_receipt(rows));
  return all;
}

std::ptrdiff_t place_of(const std::string& step) {
  return std::find(kOrder.begin(), kOrder.end(), step) - kOrder.begin();
}

}  // namespace

Receipt ReceiptStore::begin(Receipt r) {
  r.begun_at_ms = clock_.wall_ms();
  r.receipt_id = make_id("rcpt_", r.begun_at_ms);
  r.outcome = "under_way";
  store_.run([&r](SQLite::Database& db) {
    Statement(db.getHandle(),
              "INSERT INTO receipts (receipt_id, service, account_id, generation, display_name, principal, who, "
              "forced, begun_at_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
        .bind_all(r.receipt_id, r.service, r.account_id, std::int64_t{r.generation}, r.display_name, r.principal, r.who,
                  r.forced ? 1 : 0, r.begun_at_ms)
        .run();
  });
  return r;
}

void ReceiptStore::set_forced(const std::string& receipt_id) {
  store_.run([&](SQLite::Database& db) {
    Statement(db.getHandle(), "UPDATE receipts SET forced = 1 WHERE receipt_id = ?1").bind_all(receipt_id).run();
  });
}

void ReceiptStore::note(const std::string& receipt_id, const std::string& step, const std::string& outcome,
                        const std::string& message) {
  store_.run([&](SQLite::Database& db) {
    Statement(db.getHandle(),
              "INSERT INTO receipt_steps (receipt_id, step, outcome, message, at_ms) VALUES (?1, ?2, ?3, ?4, ?5) "
              "ON CONFLICT (receipt_id, step) DO UPDATE SET outcome = excluded.outcome, message = excluded.message, "
              "at_ms = excluded.at_ms")
        .bind_all(receipt_id, step, outcome, message, clock_.wall_ms())
        .run();
  });
}

void ReceiptStore::note_writes(const std::string& receipt_id, const std::vector<WriteRecord>& writes) {
  if (writes.empty()) return;
  store_.run([&](SQLite::Database& db) {
    Statement insert(db.getHandle(),
                     "INSERT OR IGNORE INTO receipt_writes (receipt_id, write_seq, was) VALUES (?1, ?2, ?3)");
    for (const auto& write : writes) insert.bind_all(receipt_id, write.seq, to_string(write.state)).run();
  });
}

void ReceiptStore::end(const std::string& receipt_id, const std::string& outcome, const std::string& message) {
  store_.run([&](SQLite::Database& db) {
    Statement(db.getHandle(), "UPDATE receipts SET ended_at_ms = ?2, outcome = ?3, message = ?4 WHERE receipt_id = ?1")
        .bind_all(receipt_id, clock_.wall_ms(), outcome, message)
        .run();
  });
}

std::optional<Receipt> ReceiptStore::get(const std::string& receipt_id) const {
  const auto db = open_reader(store_.file(), store_.kind());
  Statement row(db->getHandle(), std::string(kSelectReceipts) + "WHERE receipt_id = ?1");
  if (!row.bind_all(receipt_id).step()) return std::nullopt;
  auto receipt = read_receipt(row);
  Statement steps(db->getHandle(), "SELECT step, outcome, message, at_ms FROM receipt_steps WHERE receipt_id = ?1");
  steps.bind_all(receipt_id);
  while (steps.step()) {
    receipt.steps.push_back(
        {std::string(steps.text(0)), std::string(steps.text(1)), std::string(steps.text(2)), steps.integer(3)});
  }
  std::sort(receipt.steps.begin(), receipt.steps.end(),
            [](const auto& a, const auto& b) { return place_of(a.step) < place_of(b.step); });
  Statement writes(db->getHandle(),
                   "SELECT w.write_id, w.operation, w.summary, r.was, w.state FROM receipt_writes r JOIN writes w "
                   "ON w.seq = r.write_seq WHERE r.receipt_id = ?1 ORDER BY r.write_seq");
  writes.bind_all(receipt_id);
  while (writes.step()) {
    receipt.writes.push_back({std::string(writes.text(0)), std::string(writes.text(1)), std::string(writes.text(2)),
                              std::string(writes.text(3)), std::string(writes.text(4))});
  }
  return receipt;
}

std::vector<Receipt> ReceiptStore::list(std::int64_t limit) const {
  const auto db = open_reader(store_.file(), store_.kind());
  // An id begins with the time at which it was made.
  Statement rows(db->getHandle(), std::string(kSelectReceipts) + "ORDER BY receipt_id DESC LIMIT ?1");
  rows.bind_all(std::clamp<std::int64_t>(limit, 1, 500));
  return read_all(rows);
}

std::vector<Receipt> ReceiptStore::under_way() const {
  const auto db = open_reader(store_.file(), store_.kind());
  Statement rows(db->getHandle(), std::string(kSelectReceipts) + "WHERE ended_at_ms IS NULL ORDER BY receipt_id");
  return read_all(rows);
}

}  // namespace krux
