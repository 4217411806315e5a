// Agents and their keys, in kruxos.db.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/clock.hpp"

namespace SQLite {
class Database;
}

namespace krux {

class AgentPauses;
class GroupCommit;

struct Agent {
  std::string agent_id;  ///< "agent_" + UUIDv7
  std::string name;      ///< unique whatever the case, also among revoked ones; [A-Za-z0-9._-]{1,64}, no '-' first
  bool revoked = false;
  std::int64_t created_at_ms = 0, last_seen_ms = 0, revoked_at_ms = 0;
  std::int64_t key_since_ms = 0;      ///< that it has its present key; 0: not known
  std::int64_t old_key_until_ms = 0;  ///< until when the key before it is good too; 0: it is not
};

/// Any thread. Throws krux::Error: InvalidInput (bad name, no such agent), ConflictError (name taken, agent revoked),
/// DatabaseError; nothing has changed then. One AgentStore a ledger.
class AgentStore {
 public:
  AgentStore(GroupCommit& store, Clock& clock);
  ~AgentStore();

  struct WithKey {
    Agent agent;
    std::string key;  ///< 64 hexadecimal digits, shown once; only its SHA-256 is stored
  };
  WithKey create(const std::string& name);
  struct Found {
    Agent agent;
    bool is_new = false;
  };
  /// `make` is to run in the transaction of what is done with the agent: it stores one that is new.
  using UseAgent = std::function<void(const Agent&, const std::function<void(SQLite::Database&)>& make)>;
  /// The agent of that name or id, else a new one of that name, whose key nobody has. It is made by what `use` does
  /// with it, or where that throws not at all, and is not revoked meanwhile. `use` must not call members that change
  /// agents.
  Found find_or_create(const std::string& name_or_id, const UseAgent& use);
  /// The old key ends after `grace_ms`, at most kLongestGrace; one before it ends at once.
  WithKey rotate(const std::string& name_or_id, std::int64_t grace_ms = 0);
  Agent revoke(const std::string& name_or_id);
  /// `told` runs after each rotate() and revoke(), on the thread of the call. To be set before the first of them.
  void when_key_ends(std::function<void()> told);
  std::optional<Agent> find(const std::string& name_or_id);
  std::vector<Agent> list();  ///< oldest first, revoked ones included
  AgentPauses& pauses();      ///< of agents by their ids

  /// The agent whose key this is, unless revoked. Served from memory; constant-time comparison of hashes. Notes
  /// last_seen_ms, at most once a minute, without waiting for it.
  std::optional<Agent> authenticate(std::string_view key);
  /// The same of an agent that is known by another way, by its id.
  std::optional<Agent> active(const std::string& agent_id);

  static constexpr std::int64_t kLongestGrace = 7 * 86'400'000LL;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krux
