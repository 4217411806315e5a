#include "host/gateway/agent_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/capability/approvals.hpp"
#include "core/capability/write_json.hpp"
#include "core/util/ids.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::string_view kPrefix = "events-";
constexpr std::size_t kIdBytes = 12;

}  // namespace

AgentEvents::Subscribed AgentEvents::subscribe(const std::string& agent_id, const std::shared_ptr<ResponseStream>& to,
                                               Wanted wanted) {
  Subscribed subscribed{wanted, {}};
  {
    const std::lock_guard lock(mutex_);
    forget_overdue();
    leave(to.get());
    auto& one = all_.emplace_back();
    one.id = std::string(kPrefix) + random_hex(kIdBytes);
    one.agent_id = agent_id;
    one.wanted = std::move(wanted);
    one.to = to;
    subscribed.event_id = one.id + "-0";
  }
  listen(to);
  return subscribed;
}

std::optional<AgentEvents::Subscribed> AgentEvents::go_on(const std::string& agent_id,
                                                          const std::shared_ptr<ResponseStream>& to,
                                                          std::string_view event_id) {
  const auto named = event_named(kPrefix, event_id);
  if (!named) return std::nullopt;
  std::optional<Subscribed> subscribed;
  {
    const std::lock_guard lock(mutex_);
    forget_overdue();
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const Subscription& one) {
      return one.id == named->row && one.agent_id == agent_id;
    });
    if (found == all_.end() || !found->told.have_all_behind(named->number)) return std::nullopt;
    if (found->to != to) leave(to.get());
    found->to = to;
    found->until_boot_ms.reset();
    found->told.each_behind(named->number, [&](const std::string& event) { to->send(event); });
    subscribed = {found->wanted, {}};
  }
  listen(to);
  return subscribed;
}

void AgentEvents::listen(const std::shared_ptr<ResponseStream>& to) {
  // It is kept until nobody reads it.
  to->when_gone([weak = weak_from_this(), raw = to.get()] {
    if (const auto self = weak.lock()) self->lost(raw);
  });
}

void AgentEvents::lost(const ResponseStream* to) {
  std::shared_ptr<ResponseStream> gone;  // without the lock
  const std::lock_guard lock(mutex_);
  const auto of = [&](const Subscription& one) { return one.to.get() == to; };
  const auto at = std::find_if(all_.begin(), all_.end(), of);
  if (at == all_.end()) return;
  gone = at->to;
  lose(*at);
}

/// Under the lock.
void AgentEvents::lose(Subscription& one) {
  forget_overdue();
  one.to = nullptr;
  one.until_boot_ms = clock_.boot_ms() + kKeptMs;
  const auto is_lost = [&](const Subscription& other) { return !other.to && other.agent_id == one.agent_id; };
  if (std::count_if(all_.begin(), all_.end(), is_lost) <= static_cast<std::ptrdiff_t>(kLostPerAgent)) return;
  const auto earlier = [&](const Subscription& a, const Subscription& b) {
    return is_lost(b) ? is_lost(a) && a.until_boot_ms < b.until_boot_ms : is_lost(a);
  };
  all_.erase(std::min_element(all_.begin(), all_.end(), earlier));
}

/// Under the lock: what was heard there before.
void AgentEvents::leave(const ResponseStream* to) {
  all_.remove_if([&](const Subscription& one) { return one.to.get() == to; });
}

/// Under the lock.
void AgentEvents::forget_overdue() {
  const auto now = clock_.boot_ms();
  all_.remove_if([&](const Subscription& one) { return one.until_boot_ms && *one.until_boot_ms <= now; });
}

/// Under the lock.
void AgentEvents::tell(Subscription& one, std::string_view method, std::string_view params) {
  const auto comma = params == "{}" ? "" : ",";
  const auto& event = one.told.add(fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{{"event_id":"{}-{}"{}{}}})",
                                               method, one.id, one.told.last() + 1, comma, params.substr(1)));
  if (one.to) one.to->send(event);  // where nobody reads any more, when_gone() says so
}

void AgentEvents::capabilities_changed() {
  const std::lock_guard lock(mutex_);
  forget_overdue();
  for (auto& one : all_) {
    if (one.wanted.capabilities) tell(one, "capabilities.changed", "{}");
  }
}

/// On the thread that commits: what nobody hears costs a look at a list.
void AgentEvents::write_changed(const WriteRecord& write) {
  tell_of(write, &Wanted::writes, "write.status", [](const WriteRecord& w) { return status_json(w, false); });
  if (!write.approval_resolved) return;
  tell_of(write, &Wanted::approvals, "approval.resolved", [](const WriteRecord& w) { return approval_json(w, false); });
}

void AgentEvents::state_changed(const StateChange& change, std::string_view by,
                                const std::function<bool(const std::string&)>& may_hear) {
  const std::lock_guard lock(mutex_);
  forget_overdue();
  std::string params;
  for (auto& one : all_) {
    if (!one.wanted.state || !change.key.starts_with(one.wanted.prefix) || !may_hear(one.agent_id)) continue;
    if (params.empty())
      params = json_object([&](JsonWriter& out) {
        put(out, "key", change.key);
        put(out, "version", change.version);
        put(out, "deleted", change.deleted);
        put(out, "updated_by", by);
        put(out, "updated_at", format_time(change.at_ms));
      });
    tell(one, "state.changed", params);
  }
}

void AgentEvents::tell_of(const WriteRecord& write, bool Wanted::*wanted, std::string_view method,
                          std::string (*params_of)(const WriteRecord&)) {
  const std::lock_guard lock(mutex_);
  forget_overdue();
  std::string params;
  for (auto& one : all_) {
    if (!(one.wanted.*wanted) || one.agent_id != write.agent_id || !write.operation.starts_with(one.wanted.prefix))
      continue;
    if (params.empty()) params = params_of(write);
    tell(one, method, params);
  }
}

}  // namespace krux
