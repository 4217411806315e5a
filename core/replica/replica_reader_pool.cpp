#include "core/replica/replica_reader_pool.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "core/replica/gram_index.hpp"
#include "core/storage/database.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

/// Whether rows of one version have all that a condition on another one asks for.
bool has_all(const CollectionTable& has, const CollectionTable& wants, const Condition& condition) {
  if (condition.kind == Condition::Kind::kText) return has.spec.searchable;
  if (condition.kind == Condition::Kind::kField) {
    const int here = has.field(condition.field), there = wants.field(condition.field);
    return here >= 0 && there >= 0 &&
           has.spec.fields[static_cast<std::size_t>(here)].type ==
               wants.spec.fields[static_cast<std::size_t>(there)].type;
  }
  if (condition.kind == Condition::Kind::kTag) return has.spec.tags;
  if (condition.kind == Condition::Kind::kNamedText) {
    const int here = has.spec.named_text(condition.field), there = wants.spec.named_text(condition.field);
    return here >= 0 && there >= 0 &&
           has.spec.texts[static_cast<std::size_t>(here)].exact ==
               wants.spec.texts[static_cast<std::size_t>(there)].exact;
  }
  return std::all_of(condition.children.begin(), condition.children.end(),
                     [&](const auto& child) { return has_all(has, wants, child); });
}

bool can_answer(const CollectionTable& has, const CollectionTable& wants, const Query& query) {
  return has.spec.order == wants.spec.order && has_all(has, wants, query.where);
}

}  // namespace

ReplicaReaderPool::ReplicaReaderPool(std::filesystem::path file, CollectionSets sets, SearchBudget budget)
    : connections_(std::move(file), kReplicaKind, register_gram_tokenizer),
      sets_(std::move(sets)),
      budget_(budget),
      builds_(sets_.filled != sets_.served) {}

std::unique_ptr<ReadConnection> ReplicaReaderPool::take() {
  if (auto connection = connections_.take()) return connection;
  throw not_connected("This account's replica has been removed.");
}

PooledReader::PooledReader(std::shared_ptr<ReplicaReaderPool> pool, Rows rows)
    : pool_(std::move(pool)), connection_(pool_->take()), rows_(rows) {}

PooledReader::~PooledReader() {
  auto* const db = connection_->db->getHandle();
  if (begun_ && sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr) != SQLITE_OK) return;
  // A statement that is still open keeps what it sees, and would go on showing it.
  if (sqlite3_txn_state(db, nullptr) != SQLITE_TXN_NONE) return;
  pool_->give_back(std::move(connection_));
}

void PooledReader::begin() {
  if (begun_) return;
  // Before the view is taken: what is seen as served then stays so.
  const bool builds = rows_ == Rows::kServed && pool_->builds();
  execute(connection_->db->getHandle(), "BEGIN");
  begun_ = true;
  if (!builds) return;
  auto& list = connection_->sql.get("SELECT name FROM collections WHERE role = 'serves'");
  const ResetAtEnd reset(list);
  while (list.step()) served_.emplace(list.text(0));
}

void PooledReader::refresh() {
  if (!begun_) return;
  execute(connection_->db->getHandle(), "ROLLBACK");
  begun_ = saw_other_version_ = false;
  served_.clear();
  touched_.clear();
}

/// Where the rows that are whole cannot answer `query` (nullptr: any can), those that are being put do.
const CollectionTable& PooledReader::table(std::string_view collection, const Query* query) {
  const auto& filled = pool_->sets().filled->get(collection);
  begin();
  const auto* chosen = &filled;
  if (!served_.empty()) {
    const auto& served = pool_->sets().served->get(collection);
    if (served.set != filled.set && served_.contains(served.set) && (!query || can_answer(served, filled, *query))) {
      chosen = &served;
      saw_other_version_ = true;
    }
  }
  touched_.insert(chosen);
  return *chosen;
}

ReplicaFreshness PooledReader::freshness() {
  if (touched_.empty()) {
    for (const auto& [name, declared] : pool_->sets().filled->all()) table(name, nullptr);
  }
  begin();
  ReplicaFreshness freshness;
  bool complete = true;
  auto& set = connection_->sql.get(
      "SELECT complete, (SELECT COUNT(*) FROM left_out WHERE set_name = ?1) FROM collections WHERE name = ?1");
  const ResetAtEnd reset_set(set);
  for (const auto* one : touched_) {
    set.reset();
    set.bind(1, one->set);
    const bool known = set.step();
    complete = complete && known && set.integer(0) != 0;
    if (known) freshness.left_out += set.integer(1);
  }
  if (!complete) return freshness;
  auto& state = connection_->sql.get("SELECT name, value FROM state");
  const ResetAtEnd reset(state);
  while (state.step()) {
    if (state.text(0) == "last_sync_ms") freshness.synced_ms = state.integer(1);
    if (state.text(0) == "complete_through_ms") freshness.complete_through_ms = state.integer(1);
  }
  return freshness;
}

bool PooledReader::get(std::string_view collection, std::string_view id, const OnRow& on_row) {
  const auto& table = this->table(collection, nullptr);
  auto& row = connection_->sql.get(fmt::format(
      "SELECT c.id, c.json, c.order_ms, s.synced_at_ms FROM {} c JOIN {} s ON s.key = c.key WHERE c.id = ?1",
      table.rows, table.seen));
  const ResetAtEnd reset(row);
  row.bind(1, id);
  if (!row.step()) return false;
  emit_row(row, on_row);
  return true;
}

QueryResult PooledReader::query(const Query& query, const OnRow& on_row) {
  const auto& table = this->table(query.collection, &query);
  return Search(connection_->sql, table, query, pool_->budget()).run(on_row);
}

bool PooledReader::blob(std::string_view collection, std::string_view id, std::string_view name,
                        const std::function<bool(std::string_view)>& on_bytes) {
  const auto& table = this->table(collection, nullptr);
  auto& find = connection_->sql.get("SELECT blob FROM blobs WHERE collection = ?1 AND id = ?2 AND name = ?3");
  find.bind_all(table.set, id, name);
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
