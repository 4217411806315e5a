#include "core/replica/replica.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sqlite3.h>

#include <limits>

#include "core/replica/gram_index.hpp"
#include "core/replica/sync_shared.hpp"
#include "core/storage/database.hpp"
#include "core/util/error.hpp"
#include "core/util/fault_point.hpp"

namespace krux {
Replica::Shared::Shared(std::filesystem::path f, std::vector<CollectionSpec> collections, const Clock& c,
                        SearchBudget budget)
    : file(std::move(f)),
      clock(c),
      // Checking reads the whole file. A large replica is opened unchecked: it can be synced again, and the host must
      // be ready soon.
      db(open_database(file, kReplicaKind, is_large(file))),
      statements(std::make_unique<StatementCache>(db->getHandle())) {
  register_gram_tokenizer(db->getHandle());
  Transaction transaction(db->getHandle());
  readers = std::make_shared<ReplicaReaderPool>(file, prepare_sets(db->getHandle(), std::move(collections)), budget);
  // Blobs that were arriving when the host was killed.
  execute(db->getHandle(), "DELETE FROM blobs WHERE collection IS NULL");
  LeftOutTable(*statements).sweep_sets();
  transaction.commit();
  load();
  count_left_out();
}

void Replica::Shared::load() {
  auto* const handle = db->getHandle();
  unmerged = std::numeric_limits<std::int64_t>::max() / 2;  // a replica of before this was counted
  Statement values(handle, "SELECT name, value FROM state");
  while (values.step()) {
    const auto name = values.text(0);
    if (name == "last_sync_ms") state.last_sync_ms = values.integer(1);
    if (name == "complete_through_ms") state.complete_through_ms = values.integer(1);
    if (name == "generation") state.generation = values.integer(1);
    if (name == "full_done") state.full_done = values.integer(1) != 0;
    if (name == "unmerged") unmerged = values.integer(1);
  }
  state.whole = true;
  Statement rows(handle, "SELECT name, collection, rows, role, complete FROM collections WHERE role <> 'old'");
  while (rows.step()) {
    const std::string collection(rows.text(1));
    const bool filled = readers->sets().filled->get(collection).set == rows.text(0);
    (filled ? counts : earlier)[collection] = rows.integer(2);
    if (rows.text(3) == "serves") state.whole = state.whole && rows.integer(4) != 0;
  }
  Statement parts(handle, "SELECT part, status, message, since_ms, seen_ms FROM problems");
  while (parts.step()) {
    const std::string part(parts.text(0));
    problems[part] = {part, std::string(parts.text(2)), static_cast<krux_status>(parts.integer(1)), parts.integer(3),
                      parts.integer(4)};
  }
}

void Replica::Shared::count_left_out() {
  const auto now = LeftOutTable(*statements).counts();
  left_out_rows = now.rows;
  const std::lock_guard telling(told);
  state.left_out = now.served;
}

StatementCache& Replica::Shared::writer() {
  if (!db) throw not_connected("This account's replica has been removed.");
  return *statements;
}

const CollectionTables& Replica::Shared::tables(Rows rows) const {
  const auto& sets = readers->sets();
  return rows == Rows::kServed && readers->builds() ? *sets.served : *sets.filled;
}

void Replica::Shared::filled_is_served() {
  readers->filled_is_served();
  const std::lock_guard telling(told);
  state.whole = true;
  earlier.clear();
}

void Replica::Shared::set_state(const char* name, std::int64_t value) {
  writer()
      .get("INSERT INTO state VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
      .bind_all(std::string_view(name), value)
      .run();
}

Replica::Replica(std::filesystem::path file, std::vector<CollectionSpec> collections, const Clock& clock,
                 SearchBudget budget)
    : shared_(std::make_shared<Shared>(std::move(file), std::move(collections), clock, budget)) {}

Replica::~Replica() = default;

void Replica::tell(std::shared_ptr<const RecordWatches> watches, const std::string& service) {
  const std::lock_guard guard(shared_->mutex);
  shared_->watches = std::move(watches);
  shared_->watched_service = service;
}

std::shared_ptr<ReplicaReader> Replica::reader() {
  return std::make_shared<PooledReader>(shared_->readers, Rows::kServed);
}

std::shared_ptr<ReplicaReader> Replica::filled_reader() {
  return std::make_shared<PooledReader>(shared_->readers, Rows::kFilled);
}

SyncState Replica::state() const {
  const std::lock_guard telling(shared_->told);
  return shared_->state;
}

std::vector<SyncProblem> Replica::problems() const {
  const std::lock_guard telling(shared_->told);
  std::vector<SyncProblem> all;
  for (const auto& [part, problem] : shared_->problems) all.push_back(problem);
  return all;
}

std::vector<LeftOutRecord> Replica::left_out(std::int64_t limit) const {
  const std::lock_guard guard(shared_->mutex);
  if (shared_->left_out_rows == 0) return {};
  return LeftOutTable(shared_->writer()).latest(limit);
}

std::map<std::string, std::int64_t> Replica::counts() const {
  const std::lock_guard telling(shared_->told);
  auto counts = shared_->counts;
  for (const auto& [collection, rows] : shared_->earlier) counts[collection] = rows;
  return counts;
}

std::map<std::string, std::int64_t> Replica::building() const {
  const std::lock_guard telling(shared_->told);
  std::map<std::string, std::int64_t> building;
  for (const auto& [collection, rows] : shared_->earlier) building[collection] = shared_->counts.at(collection);
  return building;
}

RecordChanges Replica::changes() const {
  const std::lock_guard telling(shared_->told);
  return shared_->changes;
}

std::int64_t Replica::next_generation() {
  const std::lock_guard guard(shared_->mutex);
  const auto next = state().generation + 1;
  shared_->set_state("generation", next);
  const std::lock_guard telling(shared_->told);
  return shared_->state.generation = next;
}

void Replica::set_progress(std::uint64_t parts_done, std::uint64_t parts_total) {
  const std::lock_guard telling(shared_->told);
  shared_->state.parts_done = parts_done;
  shared_->state.parts_total = parts_total;
}

void Replica::finish_pass(bool full, std::int64_t complete_through_ms) {
  const std::lock_guard guard(shared_->mutex);
  const auto now = shared_->clock.wall_ms();
  {
    auto& statements = shared_->writer();
    Transaction transaction(statements.db());
    shared_->set_state("last_sync_ms", now);
    shared_->set_state("complete_through_ms", complete_through_ms);
    if (full) {
      shared_->set_state("full_done", 1);
      serve_filled_sets(statements.db());
    }
    KRUX_FAULT_POINT("sync.finish.before_commit");
    transaction.commit();
    KRUX_FAULT_POINT("sync.finish.after_commit");
  }
  if (full) shared_->filled_is_served();
  if (full) shared_->count_left_out();
  const std::lock_guard telling(shared_->told);
  shared_->state.last_sync_ms = now;
  shared_->state.complete_through_ms = complete_through_ms;
  shared_->state.full_done = shared_->state.full_done || full;
}

void Replica::require_full_sync() {
  const std::lock_guard guard(shared_->mutex);
  Transaction transaction(shared_->writer().db());
  execute(shared_->writer().db(), "DELETE FROM cursors");
  shared_->set_state("full_done", 0);
  transaction.commit();
  const std::lock_guard telling(shared_->told);
  shared_->state.full_done = false;
}

void Replica::build_anew() {
  const std::lock_guard guard(shared_->mutex);
  auto* const handle = shared_->writer().db();
  Transaction transaction(handle);
  execute(handle,
          "UPDATE collections SET role = 'old' WHERE role = 'fills';"
          "UPDATE collections SET version = -1 WHERE role = 'serves'");  // no adapter declares that one
  transaction.commit();
}

void Replica::remove() {
  const std::lock_guard guard(shared_->mutex);
  shared_->readers->close();
  shared_->statements.reset();
  shared_->db.reset();
  for (const auto* suffix : {"", "-wal", "-shm"}) {
    auto file = shared_->file;
    file += suffix;
    std::error_code error;
    std::filesystem::remove(file, error);
    if (error) throw database_error(fmt::format("{} could not be deleted: {}.", file.string(), error.message()));
  }
}

}  // namespace krux
