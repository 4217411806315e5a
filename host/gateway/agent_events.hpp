// What agents hear over WebSockets without asking each time: what became of their writes, what a person has decided,
// and that capabilities have changed.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/write/write.hpp"
#include "host/http/http_types.hpp"

namespace krux {

/// Any thread. May be told of something after its gateway.
class AgentEvents : public std::enable_shared_from_this<AgentEvents> {
 public:
  struct Wanted {
    bool writes = true, approvals = true, capabilities = true;
    std::string prefix;  ///< of the capabilities whose writes count
  };
  /// The agent hears of these over `to` from now on, until its client has gone; instead of what it heard there before.
  void subscribe(const std::string& agent_id, const std::shared_ptr<ResponseStream>& to, Wanted wanted);

  /// They may have.
  void capabilities_changed();
  void write_changed(const WriteRecord& write);

 private:
  struct Listener {
    std::string agent_id;
    Wanted wanted;
    std::shared_ptr<ResponseStream> to;
  };
  void tell_of(const WriteRecord& write, bool Wanted::*wanted, std::string_view method,
               std::string (*params_of)(const WriteRecord&));
  void forget(const ResponseStream* to);

  std::mutex mutex_;  ///< over what follows
  std::map<const ResponseStream*, Listener> listeners_;
};

}  // namespace krux
