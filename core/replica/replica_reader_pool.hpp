// Readers of a replica, each with a connection of its own for as long as it lives.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <set>

#include "core/replica/collection_sets.hpp"
#include "core/replica/replica_reader.hpp"
#include "core/replica/search.hpp"
#include "core/storage/reader_pool.hpp"

namespace krux {

/// What the readers of a replica share. They keep it alive.
class ReplicaReaderPool {
 public:
  ReplicaReaderPool(std::filesystem::path file, CollectionSets sets, SearchBudget budget);

  /// Throws krux::Error NotConnected after close().
  std::unique_ptr<ReadConnection> take();
  void give_back(std::unique_ptr<ReadConnection> connection) { connections_.give_back(std::move(connection)); }
  void close() { connections_.close(); }

  /// What was filled is committed as what is served.
  void filled_is_served() { builds_ = false; }
  bool builds() const { return builds_; }

  const CollectionSets& sets() const { return sets_; }
  const SearchBudget& budget() const { return budget_; }

 private:
  ReaderPool connections_;
  const CollectionSets sets_;
  const SearchBudget budget_;
  std::atomic<bool> builds_;
};

/// Which rows are read of a collection that is being built in another version.
enum class Rows {
  kServed,  ///< those that are whole, as long as they can answer
  kFilled,  ///< those that syncs put
};

/// Sees the replica as it was at its first use, until refresh().
class PooledReader final : public ReplicaReader {
 public:
  PooledReader(std::shared_ptr<ReplicaReaderPool> pool, Rows rows);
  ~PooledReader() override;

  bool get(std::string_view collection, std::string_view id, const OnRow& on_row) override;
  QueryResult query(const Query& query, const OnRow& on_row) override;
  bool blob(std::string_view collection, std::string_view id, std::string_view name,
            const std::function<bool(std::string_view)>& on_bytes) override;
  ReplicaFreshness freshness() override;
  bool saw_other_version() const override { return saw_other_version_; }

  void refresh();

 private:
  void begin();
  const CollectionTable& table(std::string_view collection, const Query* query);

  std::shared_ptr<ReplicaReaderPool> pool_;
  std::unique_ptr<ReadConnection> connection_;
  const Rows rows_;
  bool begun_ = false, saw_other_version_ = false;
  std::set<std::string> served_;              ///< the sets, in the view; empty where nothing is being built
  std::set<const CollectionTable*> touched_;  ///< of the pool's
};

}  // namespace krux
