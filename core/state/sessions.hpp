// Agents' sessions, in kruxos.db: who was at work, what for and when. A write names the session it was asked for in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "core/util/clock.hpp"
#include "core/util/error.hpp"

namespace krux {

class GroupCommit;

struct AgentSession {
  enum class Origin {
    kAgent,  ///< session.create
    kMcp,    ///< the handshake of the Model Context Protocol
    kOneDay  ///< of what an agent does without naming one, on one day (UTC)
  };
  std::string session_id, agent_id;  ///< "sess_" + UUIDv7, the host's choice
  Origin origin = Origin::kAgent;
  std::string name, purpose;  ///< the agent's own words, but of a day's session
  std::int64_t created_at_ms = 0, used_at_ms = 0;
  std::int64_t ended_at_ms = 0;  ///< 0: it goes on
  std::int64_t after_seq = 0;    ///< its writes come behind this one
};

const char* to_string(AgentSession::Origin origin);

/// What is answered for a session that is not the agent's, or has ended.
Error session_expired();

/// Any thread. One SessionStore a ledger.
class SessionStore {
 public:
  struct Limits {
    std::int64_t idle_ms = 24 * 3'600'000LL;
    std::size_t per_agent = 256;               ///< one more ends the one that was idle longest
    std::int64_t keep_ms = 90 * 86'400'000LL;  ///< of one that has ended
    std::int64_t kept_per_agent = 2'000;       ///< that have ended; the oldest go first
  };
  /// What went on when the host ended goes on. Throws krux::Error DatabaseError.
  SessionStore(GroupCommit& store, Clock& clock) : SessionStore(store, clock, Limits()) {}
  SessionStore(GroupCommit& store, Clock& clock, Limits limits);
  ~SessionStore();

  template <class T>
  using Done = std::function<void(std::variant<T, Error>)>;

  /// `asked`: agent_id, origin, name and purpose. `done` once it outlasts the host's end, on any thread; it must not
  /// block.
  void create(AgentSession asked, Done<AgentSession> done);

  /// Whether it is this agent's (and of that origin) and goes on; if so, its idle time begins anew. Served from memory;
  /// the time is noted at most once a minute, without waiting for it.
  bool use(const std::string& session_id, const std::string& agent_id,
           std::optional<AgentSession::Origin> origin = std::nullopt);

  /// False where use() would say so.
  void end(const std::string& session_id, const std::string& agent_id, Done<bool> done);

  /// The session of what the agent does today without naming one. Where there is none it begins, and is durable with
  /// whatever is posted to the store after this: nobody waits for it.
  std::string of_the_day(const std::string& agent_id, const std::string& agent_name);

  /// Also one that has ended, until it is forgotten. Throws krux::Error DatabaseError.
  std::optional<AgentSession> find(const std::string& session_id) const;
  /// The agent's that was used last before `session` began, or beside it. Throws krux::Error DatabaseError.
  std::optional<AgentSession> before(const AgentSession& session) const;

  /// `told` runs with each session that ends in this run, by its agent and id, on any thread; it must not call this.
  /// One that was idle for too long ends with the next that begins. To be set before the first call.
  void when_ended(std::function<void(const std::string& agent_id, const std::string& session_id)> told);

  std::int64_t idle_ms() const;
  std::size_t live() const;  ///< sessions that go on

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< shared with what is being stored
};

}  // namespace krux
