// What a Replica shares with its sessions.
#pragma once

#include <SQLiteCpp/Database.h>

#include <atomic>
#include <map>
#include <mutex>

#include "core/replica/replica.hpp"
#include "core/replica/replica_reader_pool.hpp"

namespace krux {

struct Replica::Shared {
  Shared(std::filesystem::path f, std::vector<CollectionSpec> collections, const Clock& c, SearchBudget budget);
  /// Readers go first: the connection that is closed last brings the log into the database, and only the writer can.
  ~Shared() { readers->close(); }

  /// Under `mutex`: the writer's statements; NotConnected once removed.
  StatementCache& writer();
  void set_state(const char* name, std::int64_t value);
  /// Under `mutex`: the sets that a session writes to.
  const CollectionTables& tables(Rows rows) const;
  /// Under `mutex`, once it is committed.
  void filled_is_served();
  void count_left_out();  ///< under `mutex`
  void drop_replaced();
  /// Under `mutex`: a part of what is to be done between passes. False: nothing is left.
  bool refold_rows();
  bool merge_indexes();
  void count_unmerged();
  std::int64_t records() const;

  const std::filesystem::path file;
  const Clock& clock;

  mutable std::mutex mutex;  ///< of the writer
  std::unique_ptr<SQLite::Database> db;
  std::unique_ptr<StatementCache> statements;             ///< dies before db
  std::map<std::string, std::int64_t> newest_generation;  ///< by set, of those into which reads have put something
  std::int64_t unmerged = 0;       ///< changes since the search indexes were brought together, as far as `counted`
  RecordChanges counted;           ///< of `changes`
  std::int64_t left_out_rows = 0;  ///< of all sets: state has those of the sets that are served
  std::shared_ptr<ReplicaReaderPool> readers;

  /// Of what is told of the replica, taken after `mutex`: whoever asks does not wait for a commit.
  mutable std::mutex told;
  SyncState state;
  RecordChanges changes;
  std::map<std::string, std::int64_t> counts;   ///< of the sets that are filled, by collection
  std::map<std::string, std::int64_t> earlier;  ///< the same of those that are served in their place
  std::map<std::string, SyncProblem> problems;

  std::shared_ptr<const RecordWatches> watches;  ///< under `mutex`; may be null
  std::string watched_service;                   ///< the same

 private:
  void load();
};

}  // namespace krux
