#include "core/write/place.hpp"

#include <fmt/format.h>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/util/fault_point.hpp"
#include "core/util/ids.hpp"
#include "core/write/copies.hpp"

namespace krux {

struct Place::Row {
  std::string ledger_id;
  std::int64_t counter = 0, next = 0;
  PlaceMarks marks;
  std::string hold_reason;
  bool is_new = false;
};

namespace {

constexpr std::int64_t kStepMs = 60'000;
constexpr std::size_t kIdBytes = 16;

/// What the counter inside is set to before the one outside goes on: between the two a kill leaves either.
void note_next(SQLite::Database& db, std::int64_t next) {
  Statement(db.getHandle(), "UPDATE place SET next_counter = ?1").bind_all(next).run();
}

void adopt_place(sqlite3* db, std::int64_t counter, std::int64_t next, const PlaceMarks& m) {
  Statement(db,
            "UPDATE place SET counter = ?1, next_counter = ?2, machine = ?3, boot_id = ?4, device = ?5, filesystem = "
            "?6, file_inode = ?7, directory_inode = ?8, hold_reason = NULL")
      .bind_all(counter, next, m.machine, m.boot_id, m.device, m.filesystem, m.file_inode, m.directory_inode)
      .run();
}

}  // namespace

Place::Place(GroupCommit& store, Clock& clock, std::filesystem::path data_dir, PlaceOptions options)
    : store_(store), clock_(clock), data_dir_(std::move(data_dir)), file_(store.file()), options_(std::move(options)) {
  const auto row = store_.run([](SQLite::Database& db) {
    Statement rows(db.getHandle(),
                   "SELECT ledger_id, counter, next_counter, machine, boot_id, device, filesystem, file_inode, "
                   "directory_inode, hold_reason FROM place");
    Row found;
    if (!rows.step()) {
      found.ledger_id = random_hex(kIdBytes);
      found.is_new = true;
      return found;
    }
    found.ledger_id = rows.text(0);
    found.counter = rows.integer(1);
    found.next = rows.integer(2);
    found.marks = {std::string(rows.text(3)), std::string(rows.text(4)), rows.integer(5),
                   rows.integer(6),           rows.integer(7),           rows.integer(8)};
    found.hold_reason = rows.text(9);
    return found;
  });
  record_ = std::make_unique<PlaceRecord>(options_.places_dir, row.ledger_id, data_dir_);
  marks_ = marks_of(data_dir_, file_, row.ledger_id, options_.machine_id, options_.boot_id);
  const auto outside = record_->counter();
  if (const auto why = find_difference(row, outside); !why.empty()) reason_ = "This data directory " + why + ".";
  begin(row, outside);
}

Place::~Place() = default;

/// As difference(). What was never noted cannot differ: a ledger from before places were noted is none that was copied.
std::string Place::find_difference(const Row& row, std::optional<std::int64_t> outside) const {
  if (options_.held) return "is started as a copy, with --held";
  if (!row.hold_reason.empty()) return row.hold_reason;
  const auto identity = read_identity(data_dir_);
  if (!identity.empty() && identity != row.ledger_id) return "holds the database of another one";
  if (row.marks.file_inode != 0) {
    if (auto why = difference(row.marks, marks_); !why.empty()) return why;
  }
  if (row.counter == 0) return {};
  if (identity.empty()) return "has lost its file identity";
  const auto& at = record_->file().string();
  if (!outside) return fmt::format("has no counter at {}, where one was kept", at);
  if (*outside == row.counter || *outside == row.next) return {};
  if (*outside > row.counter)
    return fmt::format("is older than the counter at {}: the ledger went on after it was copied", at);
  return fmt::format("is newer than the counter at {}: the ledger went on elsewhere", at);
}

/// One transaction notes the new place and holds what is to be held: no kill leaves the one without the other.
void Place::begin(const Row& row, std::optional<std::int64_t> outside) {
  const auto base = outside.value_or(0);
  const auto next = std::max({base, row.counter, row.next}) + 1;
  held_ = store_.run([&](SQLite::Database& db) {
    StatementCache sql(db.getHandle());
    if (row.is_new)
      sql.get("INSERT OR REPLACE INTO place (only, ledger_id, counter, next_counter) VALUES (1, ?1, 0, 0)")
          .bind_all(row.ledger_id)
          .run();
    adopt_place(db.getHandle(), base, next, marks_);
    const auto held = reason_.empty() ? 0 : hold_copies(sql, {reason_, options_.boot_id, options_.settle_ms}, clock_);
    KRUX_FAULT_POINT("place.begin.before_commit");
    return held;
  });
  KRUX_FAULT_POINT("place.begin.after_commit");
  if (read_identity(data_dir_) != row.ledger_id) write_identity(data_dir_, row.ledger_id);
  record_->write(next);
  KRUX_FAULT_POINT("place.counter.written");
  settle(next);
}

void Place::settle(std::int64_t counter) {
  store_.run([counter](SQLite::Database& db) {
    Statement(db.getHandle(), "UPDATE place SET counter = ?1, next_counter = ?1").bind_all(counter).run();
  });
  counter_ = counter;
  advanced_boot_ms_ = clock_.boot_ms();
}

void Place::advance_in_time() {
  if (clock_.boot_ms() - advanced_boot_ms_ >= kStepMs) advance();
}

void Place::advance() {
  const auto next = counter_ + 1;
  store_.run([next](SQLite::Database& db) { note_next(db, next); });
  KRUX_FAULT_POINT("place.advance.announced");
  record_->write(next);
  KRUX_FAULT_POINT("place.advance.written");
  settle(next);
}

}  // namespace krux
