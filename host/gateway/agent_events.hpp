// What agents hear over WebSockets without asking each time: what became of their writes, what a person has decided,
// what has changed of the state they share, and that capabilities have changed. Whoever loses his connection may go on
// where he was, for a while.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/state/state_store.hpp"
#include "core/util/clock.hpp"
#include "core/write/write.hpp"
#include "host/gateway/numbered_events.hpp"
#include "host/http/http_types.hpp"

namespace krux {

/// Any thread. May be told of something after its gateway; `clock` outlives it.
class AgentEvents : public std::enable_shared_from_this<AgentEvents> {
 public:
  static constexpr std::int64_t kKeptMs = 120'000;     ///< behind the loss of a connection
  static constexpr std::size_t kMostBytes = 64 << 10;  ///< of events that a client may hear again; the oldest go first
  static constexpr std::size_t kLostPerAgent = 8;      ///< one more, and what was lost first is forgotten

  explicit AgentEvents(const Clock& clock) : clock_(clock) {}

  struct Wanted {
    bool writes = true, approvals = true, capabilities = true;
    std::string prefix;  ///< of the capabilities whose writes count, and of the keys of state that do
    bool state = false;
  };
  struct Subscribed {
    Wanted wanted;
    std::string event_id;  ///< behind which to go on as long as nothing is told; empty where it went on
  };
  /// The agent hears of these over `to` from now on, until its client has gone; instead of what it heard there before.
  Subscribed subscribe(const std::string& agent_id, const std::shared_ptr<ResponseStream>& to, Wanted wanted);
  /// What followed that event of the agent's is told over `to`, and what happens from now on; another connection that
  /// heard it hears no more. Nothing: it is kept no longer, or not all that followed is.
  std::optional<Subscribed> go_on(const std::string& agent_id, const std::shared_ptr<ResponseStream>& to,
                                  std::string_view event_id);

  /// They may have.
  void capabilities_changed();
  void write_changed(const WriteRecord& write);
  /// Of the shared state, by the agent of that name. `may_hear`: whether an agent, by its id, may know of it now.
  void state_changed(const StateChange& change, std::string_view by,
                     const std::function<bool(const std::string&)>& may_hear);

 private:
  struct Subscription {
    std::string id, agent_id;
    Wanted wanted;
    NumberedEvents told{kMostBytes};
    std::shared_ptr<ResponseStream> to;         ///< null: its connection is lost
    std::optional<std::int64_t> until_boot_ms;  ///< of one that is lost
  };
  using Subscriptions = std::list<Subscription>;

  void tell_of(const WriteRecord& write, bool Wanted::*wanted, std::string_view method,
               std::string (*params_of)(const WriteRecord&));
  void tell(Subscription& one, std::string_view method, std::string_view params);
  void listen(const std::shared_ptr<ResponseStream>& to);
  void lost(const ResponseStream* to);
  void lose(Subscription& one);
  void forget_overdue();
  void leave(const ResponseStream* to);

  const Clock& clock_;
  std::mutex mutex_;  ///< over what follows; whoever is told is told under it, so that events come in their order
  Subscriptions all_;
};

}  // namespace krux
