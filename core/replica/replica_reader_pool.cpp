#include "core/replica/replica_reader_pool.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/replica/gram_index.hpp"
#include "core/storage/database.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostIdle = 8;

std::unique_ptr<SQLite::Database> connect(const std::filesystem::path& file) {
  auto db = open_reader(file, kReplicaKind);
  register_gram_tokenizer(db->getHandle());
  return db;
}

}  // namespace

ReadConnection::ReadConnection(const std::filesystem::path& file) : db(connect(file)), statements(db->getHandle()) {}

ReplicaReaderPool::ReplicaReaderPool(std::filesystem::path file, std::shared_ptr<const CollectionTables> tables,
                                     SearchBudget budget)
    : file_(std::move(file)), tables_(std::move(tables)), budget_(budget) {}

std::unique_ptr<ReadConnection> ReplicaReaderPool::take() {
  {
    const std::lock_guard guard(mutex_);
    if (closed_) throw not_connected("This account's replica has been removed.");
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  return std::make_unique<ReadConnection>(file_);
}

void ReplicaReaderPool::give_back(std::unique_ptr<ReadConnection> connection) {
  const std::lock_guard guard(mutex_);
  if (!closed_ && idle_.size() < kMostIdle) idle_.push_back(std::move(connection));
}

void ReplicaReaderPool::close() {
  const std::lock_guard guard(mutex_);
  closed_ = true;
  idle_.clear();
}

PooledReader::PooledReader(std::shared_ptr<ReplicaReaderPool> pool)
    : pool_(std::move(pool)), connection_(pool_->take()) {}

PooledReader::~PooledReader() {
  auto* const db = connection_->db->getHandle();
  if (begun_ && sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr) != SQLITE_OK) return;
  // A statement that is still open keeps what it sees, and would go on showing it.
  if (sqlite3_txn_state(db, nullptr) != SQLITE_TXN_NONE) return;
  pool_->give_back(std::move(connection_));
}

void PooledReader::begin() {
  if (begun_) return;
  execute(connection_->db->getHandle(), "BEGIN");
  begun_ = true;
}

void PooledReader::refresh() {
  if (!begun_) return;
  execute(connection_->db->getHandle(), "ROLLBACK");
  begun_ = false;
}

bool PooledReader::get(std::string_view collection, std::string_view id, const OnRow& on_row) {
  const auto& table = pool_->tables().get(collection);
  begin();
  auto& row = connection_->statements.get(fmt::format(
      "SELECT c.id, c.json, c.order_ms, s.synced_at_ms FROM {} c JOIN {} s ON s.key = c.key WHERE c.id = ?1",
      table.rows, table.seen));
  const ResetAtEnd reset(row);
  row.bind(1, id);
  if (!row.step()) return false;
  emit_row(row, on_row);
  return true;
}

QueryResult PooledReader::query(const Query& query, const OnRow& on_row) {
  const auto& table = pool_->tables().get(query.collection);
  begin();
  return Search(connection_->statements, table, query, pool_->budget()).run(on_row);
}

bool PooledReader::blob(std::string_view collection, std::string_view id, std::string_view name,
                        const std::function<bool(std::string_view)>& on_bytes) {
  pool_->tables().get(collection);
  begin();
  auto& find = connection_->statements.get("SELECT blob FROM blobs WHERE collection = ?1 AND id = ?2 AND name = ?3");
  find.bind_all(collection, id, name);
  if (!find.step()) return false;
  const auto blob = find.integer(0);
  find.reset();
  // Of its own, and not from the cache: the callback may read another blob.
  Statement chunk(connection_->db->getHandle(), "SELECT data FROM blob_chunks WHERE blob = ?1 ORDER BY seq");
  chunk.bind(1, blob);
  while (chunk.step()) {
    if (!on_bytes(chunk.blob(0))) break;
  }
  return true;
}

}  // namespace krux
