#include "core/replica/sync_store.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/replica/gram_index.hpp"
#include "core/replica/sync_shared.hpp"
#include "core/storage/database.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

/// Checking reads the whole file. A large replica is opened unchecked: it can be synced again, and the host must be
/// ready soon.

}  // namespace

SyncStore::Shared::Shared(std::filesystem::path f, std::vector<CollectionSpec> collections, const Clock& c,
                          SearchBudget budget)
    : file(std::move(f)),
      tables(std::make_shared<CollectionTables>(std::move(collections))),
      clock(c),
      readers(std::make_shared<ReplicaReaderPool>(file, tables, budget)),
      db(open_database(file, kReplicaKind, is_large(file))),
      statements(std::make_unique<StatementCache>(db->getHandle())) {
  register_gram_tokenizer(db->getHandle());
  Transaction transaction(db->getHandle());
  prepare_collections();
  // Blobs that were arriving when the host was killed.
  execute(db->getHandle(), "DELETE FROM blobs WHERE collection IS NULL");
  transaction.commit();
  load();
}

void SyncStore::Shared::prepare_collections() {
  auto* const handle = db->getHandle();
  std::map<std::string, std::pair<std::int64_t, std::string>> present;
  Statement list(handle, "SELECT name, version, shape FROM collections");
  while (list.step()) present[std::string(list.text(0))] = {list.integer(1), std::string(list.text(2))};
  bool rebuilt = false;
  for (const auto& [name, what] : present) {
    const auto declared = tables->all().find(name);
    if (declared != tables->all().end() && declared->second.spec.version == what.first &&
        declared->second.shape == what.second) {
      continue;
    }
    rebuilt = true;
    CollectionTable::drop(handle, name);
    statements->get("DELETE FROM collections WHERE name = ?1").bind_all(std::string_view(name)).run();
    statements->get("DELETE FROM blobs WHERE collection = ?1").bind_all(std::string_view(name)).run();
  }
  for (const auto& [name, table] : tables->all()) {
    if (statements->get("SELECT 1 FROM collections WHERE name = ?1").bind_all(std::string_view(name)).step()) continue;
    rebuilt = true;
    table.create(handle);
    statements->get("INSERT INTO collections (name, version, shape) VALUES (?1, ?2, ?3)")
        .bind_all(std::string_view(name), table.spec.version, std::string_view(table.shape))
        .run();
  }
  if (rebuilt) execute(handle, "DELETE FROM cursors; DELETE FROM state WHERE name = 'full_done'");
  statements->clear();
}

void SyncStore::Shared::load() {
  auto* const handle = db->getHandle();
  Statement values(handle, "SELECT name, value FROM state");
  while (values.step()) {
    const auto name = values.text(0);
    if (name == "last_sync_ms") state.last_sync_ms = values.integer(1);
    if (name == "complete_through_ms") state.complete_through_ms = values.integer(1);
    if (name == "generation") state.generation = values.integer(1);
    if (name == "full_done") state.full_done = values.integer(1) != 0;
  }
  Statement rows(handle, "SELECT name, rows FROM collections");
  while (rows.step()) counts[std::string(rows.text(0))] = rows.integer(1);
  Statement parts(handle, "SELECT part, status, message, since_ms, seen_ms FROM problems");
  while (parts.step()) {
    const std::string part(parts.text(0));
    problems[part] = {part, std::string(parts.text(2)), static_cast<krux_status>(parts.integer(1)), parts.integer(3),
                      parts.integer(4)};
  }
}

StatementCache& SyncStore::Shared::writer() {
  if (!db) throw not_connected("This account's replica has been removed.");
  return *statements;
}

void SyncStore::Shared::set_state(const char* name, std::int64_t value) {
  writer()
      .get("INSERT INTO state VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
      .bind_all(std::string_view(name), value)
      .run();
}

SyncStore::SyncStore(std::filesystem::path file, std::vector<CollectionSpec> collections, const Clock& clock,
                     SearchBudget budget)
    : shared_(std::make_shared<Shared>(std::move(file), std::move(collections), clock, budget)) {}

SyncStore::~SyncStore() = default;

std::shared_ptr<ReplicaReader> SyncStore::reader() {
  return std::make_shared<PooledReader>(shared_->readers);
}

SyncState SyncStore::state() const {
  const std::lock_guard guard(shared_->mutex);
  return shared_->state;
}

std::vector<SyncProblem> SyncStore::problems() const {
  const std::lock_guard guard(shared_->mutex);
  std::vector<SyncProblem> all;
  for (const auto& [part, problem] : shared_->problems) all.push_back(problem);
  return all;
}

std::map<std::string, std::int64_t> SyncStore::counts() const {
  const std::lock_guard guard(shared_->mutex);
  return shared_->counts;
}

RecordChanges SyncStore::changes() const {
  const std::lock_guard guard(shared_->mutex);
  return shared_->changes;
}

std::int64_t SyncStore::next_generation() {
  const std::lock_guard guard(shared_->mutex);
  shared_->set_state("generation", shared_->state.generation + 1);
  return ++shared_->state.generation;
}

void SyncStore::set_progress(std::uint64_t parts_done, std::uint64_t parts_total) {
  const std::lock_guard guard(shared_->mutex);
  shared_->state.parts_done = parts_done;
  shared_->state.parts_total = parts_total;
}

void SyncStore::finish_pass(bool full, std::int64_t complete_through_ms) {
  const std::lock_guard guard(shared_->mutex);
  auto next = shared_->state;
  next.last_sync_ms = shared_->clock.wall_ms();
  next.complete_through_ms = complete_through_ms;
  next.full_done = next.full_done || full;
  Transaction transaction(shared_->writer().db());
  shared_->set_state("last_sync_ms", next.last_sync_ms);
  shared_->set_state("complete_through_ms", next.complete_through_ms);
  shared_->set_state("full_done", next.full_done ? 1 : 0);
  transaction.commit();
  shared_->state = next;
}

void SyncStore::require_full_sync() {
  const std::lock_guard guard(shared_->mutex);
  Transaction transaction(shared_->writer().db());
  execute(shared_->writer().db(), "DELETE FROM cursors");
  shared_->set_state("full_done", 0);
  transaction.commit();
  shared_->state.full_done = false;
}

void SyncStore::idle() {
  const std::lock_guard guard(shared_->mutex);
  auto* const handle = shared_->writer().db();
  sqlite3_busy_timeout(handle, 0);
  sqlite3_wal_checkpoint_v2(handle, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(handle, 5000);
}

void SyncStore::remove() {
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
