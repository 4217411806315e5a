#include "host/gateway/agent_events.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/capability/approvals.hpp"
#include "core/capability/write_json.hpp"

namespace krux {
namespace {

std::string event_text(std::string_view method, std::string_view params) {
  return fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params);
}

}  // namespace

void AgentEvents::subscribe(const std::string& agent_id, const std::shared_ptr<ResponseStream>& to, Wanted wanted) {
  {
    const std::lock_guard lock(mutex_);
    listeners_[to.get()] = {agent_id, std::move(wanted), to};
  }
  // It is kept until nobody reads it.
  to->when_gone([weak = weak_from_this(), key = to.get()] {
    if (const auto self = weak.lock()) self->forget(key);
  });
}

void AgentEvents::forget(const ResponseStream* to) {
  std::shared_ptr<ResponseStream> gone;
  const std::lock_guard lock(mutex_);
  const auto at = listeners_.find(to);
  if (at == listeners_.end()) return;
  gone = std::move(at->second.to);
  listeners_.erase(at);
}

void AgentEvents::capabilities_changed() {
  std::vector<std::shared_ptr<ResponseStream>> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, listener] : listeners_) {
      if (listener.wanted.capabilities) all.push_back(listener.to);
    }
  }
  for (const auto& to : all) to->send(event_text("capabilities.changed", "{}"));
}

/// On the thread that commits: what nobody hears costs a look at a list.
void AgentEvents::write_changed(const WriteRecord& write) {
  tell_of(write, &Wanted::writes, "write.status", [](const WriteRecord& w) { return status_json(w, false); });
  if (!write.approval_resolved) return;
  tell_of(write, &Wanted::approvals, "approval.resolved", [](const WriteRecord& w) { return approval_json(w, false); });
}

void AgentEvents::tell_of(const WriteRecord& write, bool Wanted::*wanted, std::string_view method,
                          std::string (*params_of)(const WriteRecord&)) {
  std::vector<std::shared_ptr<ResponseStream>> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, listener] : listeners_) {
      if (listener.wanted.*wanted && listener.agent_id == write.agent_id &&
          write.operation.starts_with(listener.wanted.prefix))
        all.push_back(listener.to);
    }
  }
  if (all.empty()) return;
  const auto text = event_text(method, params_of(write));
  for (const auto& to : all) to->send(text);
}

}  // namespace krux
