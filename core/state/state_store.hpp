// What agents note for good, in kruxos.db: each for itself, with the versions before the present one, and all of them
// in one space that they share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/state/state_entry.hpp"
#include "core/util/clock.hpp"
#include "core/util/error.hpp"

namespace krux {

class GroupCommit;

/// Whose the entries are.
struct StateSpace {
  std::string owner;  ///< an agent's id; empty: what agents share
  bool is_shared() const { return owner.empty(); }
};

/// An agent sets a key, or deletes it.
struct StateWrite {
  StateSpace space;
  std::string agent_id;  ///< whose call it is
  std::string key;
  std::optional<std::string> value_json;         ///< nothing: it is deleted
  std::optional<std::int64_t> expected_version;  ///< that the key has; 0: there is none. Nothing: whatever it has
  /// The same call again within an hour is answered as the first was; empty: each call is another one.
  std::string idempotency_key;
};

struct StateWritten {
  std::int64_t version = 0;  ///< that the key has now; of one that was deleted, that it had. 0: there was nothing
  std::int64_t at_ms = 0;
  bool repeated = false;  ///< it was done before
};

/// Of the shared space, once it is durable.
struct StateChange {
  std::string key;
  std::int64_t version = 0;
  bool deleted = false;
  std::string agent_id;  ///< who has done it
  std::int64_t at_ms = 0;
};

/// Any thread. One a ledger.
class StateStore {
 public:
  static constexpr std::int64_t kReceiptMs = 3'600'000;
  static constexpr std::int64_t kReceiptsPerAgent = 10'000;

  StateStore(GroupCommit& store, Clock& clock, StateLimits limits);
  ~StateStore();

  using Done = std::function<void(std::variant<StateWritten, Error>)>;
  /// `done` once it is durable. From a thread that may wait for a disk. VersionConflict: another version is there, with
  /// the present one as context; InvalidInput: a limit is reached; ConflictError: the idempotency_key was another
  /// call's.
  void write(StateWrite write, Done done);

  // These throw krux::Error DatabaseError.
  /// Also a version before the present one (0: the present one), as long as it is kept.
  std::optional<StateEntry> get(const StateSpace& space, const std::string& key, std::int64_t version = 0) const;
  std::vector<StateEntry> list(const StateSpace& space, const StateListing& listing) const;
  /// Newest first, below version `before` (0: from the present one).
  std::vector<StateEntry> history(const StateSpace& space, const std::string& key, std::int64_t limit,
                                  std::int64_t before = 0) const;
  /// Shared entries that others than this agent have set since, newest first, without their values.
  std::vector<StateEntry> set_by_others(const std::string& agent_id, std::int64_t since_ms, std::int64_t limit) const;

  /// `told` runs with each change of the shared space, in their order, on the thread that has committed; it must not
  /// block. To be set before the first of them.
  void when_shared_changed(std::function<void(const StateChange&)> told);

  const StateLimits& limits() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< shared with what is being stored
};

}  // namespace krux
