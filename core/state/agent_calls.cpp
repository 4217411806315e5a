#include "core/state/agent_calls.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "core/policy/rules/rule.hpp"
#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"

namespace krux {
namespace {

/// Of one capability by one agent.
struct Calls {
  std::int64_t next = 0;                       ///< the number of the next call
  std::map<std::int64_t, std::int64_t> at_ms;  ///< by number
};
using CallsByName = std::map<std::string, Calls, std::less<>>;

}  // namespace

struct AgentCalls::State {
  GroupCommit& store;
  mutable std::mutex mutex{};  ///< over what follows
  std::map<std::string, CallsByName, std::less<>> agents{};
};

AgentCalls::AgentCalls(GroupCommit& store, const Clock& clock) : state_(new State{store}) {
  state_->agents = store.run([over_ms = clock.wall_ms() - kLongestHistory](SQLite::Database& db) {
    std::map<std::string, CallsByName, std::less<>> all;
    Statement(db.getHandle(), "DELETE FROM agent_calls WHERE at_ms < ?1").bind_all(over_ms).run();
    Statement row(db.getHandle(), "SELECT agent_id, capability, number, at_ms FROM agent_calls");
    while (row.step()) {
      auto& calls = all[std::string(row.text(0))][std::string(row.text(1))];
      calls.at_ms[row.integer(2)] = row.integer(3);
      calls.next = std::max(calls.next, row.integer(2) + 1);
    }
    return all;
  });
}

AgentCalls::~AgentCalls() = default;

void AgentCalls::note(const std::string& agent_id, const std::string& capability, std::int64_t at_ms) {
  std::int64_t number = 0;
  {
    const std::lock_guard lock(state_->mutex);
    auto& calls = state_->agents[agent_id][capability];
    number = calls.next++;
    calls.at_ms[number] = at_ms;
    calls.at_ms.erase(number - kMostCalls);
  }
  state_->store.post(
      [agent_id, capability, number, at_ms](SQLite::Database& db) {
        Statement(
            db.getHandle(),
            "INSERT INTO agent_calls (agent_id, capability, place, number, at_ms) VALUES (?1, ?2, ?3, ?4, ?5) ON "
            "CONFLICT (agent_id, capability, place) DO UPDATE SET number = excluded.number, at_ms = excluded.at_ms "
            "WHERE excluded.number > agent_calls.number")
            .bind_all(agent_id, capability, number % kMostCalls, number, at_ms)
            .run();
      },
      [](const std::exception_ptr&) {}, GroupCommit::Outlasts::kProcess);
}

AgentCalls::Found AgentCalls::find(std::string_view agent_id, const Asked& asked) const {
  Found found;
  const std::lock_guard lock(state_->mutex);
  const auto agent = state_->agents.find(agent_id);
  if (agent == state_->agents.end()) return found;
  for (const auto& [name, calls] : agent->second) {
    const auto fits = [&, called = std::string_view(name)](const std::string& pattern) {
      return fits_pattern(pattern, called);
    };
    if (std::none_of(asked.patterns.begin(), asked.patterns.end(), fits)) continue;
    bool own_is_left_out = asked.own_ms == 0 || name != asked.own;
    for (const auto& [number, at_ms] : calls.at_ms) {
      if (at_ms <= asked.after_ms || at_ms >= asked.before_ms) continue;
      if (!own_is_left_out && at_ms == asked.own_ms) {
        own_is_left_out = true;
        continue;
      }
      ++found.count;
      if (at_ms < found.last_ms) continue;
      found.last = name;
      found.last_ms = at_ms;
    }
  }
  return found;
}

}  // namespace krux
