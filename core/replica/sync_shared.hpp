// What a SyncStore shares with its sessions.
#pragma once

#include <SQLiteCpp/Database.h>

#include <atomic>
#include <map>
#include <mutex>

#include "core/replica/replica_reader_pool.hpp"
#include "core/replica/sync_store.hpp"

namespace krux {

struct SyncStore::Shared {
  Shared(std::filesystem::path f, std::vector<CollectionSpec> collections, const Clock& c, SearchBudget budget);
  /// Readers go first: the connection that is closed last brings the log into the database, and only the writer can.
  ~Shared() { readers->close(); }

  /// Under `mutex`: the writer's statements; NotConnected once removed.
  StatementCache& writer();
  void set_state(const char* name, std::int64_t value);

  const std::filesystem::path file;
  const std::shared_ptr<const CollectionTables> tables;
  const Clock& clock;
  const std::shared_ptr<ReplicaReaderPool> readers;

  mutable std::mutex mutex;  ///< of all that follows
  std::unique_ptr<SQLite::Database> db;
  std::unique_ptr<StatementCache> statements;  ///< dies before db
  SyncState state;
  RecordChanges changes;
  std::map<std::string, std::int64_t> counts;
  std::map<std::string, SyncProblem> problems;

 private:
  void prepare_collections();
  void load();
};

}  // namespace krux
