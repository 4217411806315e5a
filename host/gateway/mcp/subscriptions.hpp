// Resources of which a session is told when they have changed, in the models with sessions.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace krux::mcp {

/// Any thread. What is kept goes with its session; what the host does not hear of a session's end, with the agent's
/// older sessions.
class Subscriptions {
 public:
  static constexpr std::size_t kPerSession = 64;  ///< resources
  static constexpr std::size_t kPerAgent = 64;    ///< sessions that have some; one more drops the oldest one's

  /// Tells the session of the resource's change; false: there is nobody who hears it now.
  using Tell = std::function<bool(const std::string& session, const std::string& uri)>;
  /// Begins to watch: `changed` is called then. May return null: there is nothing to watch.
  using Watch = std::function<std::shared_ptr<void>(std::function<void()> changed)>;

  explicit Subscriptions(Tell tell) { state_->tell = std::move(tell); }

  /// A second time changes nothing. False: the session has as many as it may.
  bool add(const std::string& agent_id, const std::string& session, const std::string& uri, const Watch& watch);
  /// Also of what there is not.
  void remove(const std::string& session, const std::string& uri);
  void end(const std::string& session);
  /// Somebody of the session listens now: what has changed meanwhile is told, once.
  void listens(const std::string& session);

  std::size_t size() const;

 private:
  struct One {
    std::shared_ptr<void> watched;
    bool waits = false;  ///< it has changed, and nobody has heard of it
  };
  struct OfSession {
    std::string session, agent_id;
    std::map<std::string, One> by_uri;
  };
  struct State {
    Tell tell;
    mutable std::mutex mutex;
    std::list<OfSession> sessions;  ///< the oldest first
    OfSession* find(const std::string& session);
    void changed(const std::string& session, const std::string& uri);
    void make_room(const std::string& agent_id);
  };
  /// Watches may outlast this.
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace krux::mcp
