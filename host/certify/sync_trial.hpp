// Passes of a sync as the host's scheduler makes them, one step after the other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "host/certify/lab.hpp"

namespace krux::certify {

/// What a replica holds: "collection/id", and what stands there.
using ReplicaRows = std::map<std::string, std::string>;

/// How `actual` differs, as a sentence; empty when it does not.
std::string difference(const ReplicaRows& expected, const ReplicaRows& actual);

/// Every content that was ever put at a place of the replica.
using OfferedRows = std::map<std::string, std::set<std::string>>;

/// What an adapter has put.
struct OfferedRecords {
  OfferedRows rows;
  std::set<std::string> searched;  ///< every text that is searched
};

/// How one pass ended.
struct PassEnd {
  enum class How { kDone, kFailed, kKilled } how = How::kDone;
  CallFailure failure;          ///< with kFailed
  std::size_t steps = 0;        ///< that were taken
  bool cursor_expired = false;  ///< a step said so, and the pass became a full one
  std::size_t problems = 0;     ///< parts that the adapter has reported as failed
};

/// One account's replica and the instance that syncs it.
class SyncTrial {
 public:
  SyncTrial(Lab& lab, std::shared_ptr<Replica> store, std::shared_ptr<ServiceAdapter> adapter)
      : lab_(lab), store_(std::move(store)), adapter_(std::move(adapter)) {}
  /// With a replica and an instance of its own.
  explicit SyncTrial(Lab& lab) : SyncTrial(lab, lab.fresh_replica(), lab.adapter()) {}

  /// One pass, full or incremental as the replica asks for; the clock moves on where the adapter waits. With
  /// `kill_after`, the session ends and the call is cancelled behind that many commits. Throws CheckFailed for a pass
  /// that does not end.
  PassEnd pass(std::size_t kill_after = 0);

  /// Passes until one is done and no part has failed in it; the clock moves on after failures. Throws CheckFailed.
  void settle();

  /// As after a restart of the host: another instance, the same replica.
  void restart() { adapter_ = lab_.adapter(); }

  ReplicaRows rows() const;
  std::size_t commits() const { return commits_; }  ///< so far
  const OfferedRows& offered() const { return offered_->rows; }
  const std::set<std::string>& searched() const { return offered_->searched; }
  Replica& store() { return *store_; }

 private:
  std::optional<CallResult<SyncStep>> step(std::size_t kill_after, std::size_t& commits);

  Lab& lab_;
  std::shared_ptr<Replica> store_;
  std::shared_ptr<ServiceAdapter> adapter_;
  std::size_t commits_ = 0;
  /// Shared with sessions: an abandoned call may go on putting.
  std::shared_ptr<OfferedRecords> offered_ = std::make_shared<OfferedRecords>();
};

}  // namespace krux::certify
