// One account's replica: its collections, the state of its sync, and who reads and writes it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/replica/collection.hpp"
#include "core/replica/left_out.hpp"
#include "core/replica/record_watches.hpp"
#include "core/replica/replica_reader.hpp"
#include "core/replica/search.hpp"
#include "core/replica/sync_session.hpp"
#include "core/util/clock.hpp"

namespace krux {

class RecordList;

/// Durable but for the parts.
struct SyncState {
  std::int64_t last_sync_ms = 0;         ///< end of the last pass that was completed; 0: none yet
  std::int64_t complete_through_ms = 0;  ///< everything that the service had at this time is in the replica
  std::int64_t generation = 0;           ///< the last one that next_generation() gave
  bool full_done = false;                ///< a full pass has been completed; false asks for one
  bool whole = false;                    ///< each collection that is read was once filled to its end
  /// Records that the service has and the replica could not take, of the collections that are read. No read can show
  /// them: whoever says how complete the replica is says this too.
  std::int64_t left_out = 0;
  std::uint64_t parts_done = 0, parts_total = 0;  ///< progress of the present pass, for people
};

/// A part (a channel, a label) that could not be synced.
struct SyncProblem {
  std::string part, message;
  krux_status status = 0;
  std::int64_t since_ms = 0, seen_ms = 0;
};

/// Any thread. Readers and sessions outlive it. Throws krux::Error (DatabaseError; NotConnected once it was removed).
class Replica {
 public:
  /// Opens or creates `file`. A collection whose declared version or shape has changed is built beside the one that is
  /// there, which is read until the next full pass has come to its end; one that is no longer declared is dropped. For
  /// new and for changed ones the cursors go and a full pass is asked for. `clock` must outlive sessions.
  Replica(std::filesystem::path file, std::vector<CollectionSpec> collections, const Clock& clock,
          SearchBudget budget = {});
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// From now on commits tell those who wait for records of the service.
  void tell(std::shared_ptr<const RecordWatches> watches, const std::string& service);
  std::shared_ptr<SyncSession> begin_session();
  /// Cheap: connections are kept. It sees the replica as it is at its first use, so ask for one per call, and let it
  /// go: a reader that is kept hinders the checkpoint of the log.
  std::shared_ptr<ReplicaReader> reader();
  /// It reads what syncs put, also of a collection that is being built.
  std::shared_ptr<ReplicaReader> filled_reader();
  /// The same, and it keeps what a read has fetched.
  std::shared_ptr<ReplicaReader> fetching_reader();

  /// What record_list.hpp has.
  std::unique_ptr<RecordList> list();

  SyncState state() const;
  std::vector<SyncProblem> problems() const;
  /// The records that state().left_out counts, the latest first.
  std::vector<LeftOutRecord> left_out(std::int64_t limit) const;
  std::map<std::string, std::int64_t> counts() const;    ///< rows that are read, by collection, without counting them
  std::map<std::string, std::int64_t> building() const;  ///< collections that are built in another version: rows so far
  RecordChanges changes() const;                         ///< of all commits since this was opened

  /// For rows that a new pass sees; greater than all before, also after a restart.
  std::int64_t next_generation();
  void set_progress(std::uint64_t parts_done, std::uint64_t parts_total);
  /// A pass is complete: `now` is the last sync. What a full one has built is read from here on.
  void finish_pass(bool full, std::int64_t complete_through_ms);
  /// The service no longer knows a cursor: all cursors are dropped, the rows stay until a full pass has swept them.
  void require_full_sync();

  /// From its next opening on, all is built anew beside what is read until then, as where another version is declared.
  void build_anew();

  /// Between passes: drops what was replaced, brings searched texts of earlier versions up to date and the parts of the
  /// search index together, as far as two seconds go, and the log back to nothing, as far as readers allow. Whether
  /// there is more to do.
  bool idle();

  /// The account is disconnected: ends sessions and deletes the files.
  void remove();

 private:
  class Session;
  class FetchingReader;
  struct Shared;
  explicit Replica(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  /// For what a read keeps: with the records that are read.
  std::shared_ptr<SyncSession> begin_keeping();
  bool work_in_parts();
  std::shared_ptr<Shared> shared_;
};

}  // namespace krux
