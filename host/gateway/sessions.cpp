#include "host/gateway/sessions.hpp"

#include <algorithm>

#include "core/util/ids.hpp"

namespace krux {

std::string Sessions::create(const std::string& agent_id) {
  std::string id = make_id("sess_", clock_.wall_ms());
  const std::lock_guard lock(mutex_);
  drop_idle();
  drop_one_of(agent_id);
  sessions_.emplace(id, Session{agent_id, clock_.boot_ms()});
  return id;
}

bool Sessions::use(const std::string& session_id, const std::string& agent_id) {
  const std::lock_guard lock(mutex_);
  const auto at = find_live(session_id, agent_id);
  if (at == sessions_.end()) return false;
  at->second.used_at_ms = clock_.boot_ms();
  return true;
}

bool Sessions::end(const std::string& session_id, const std::string& agent_id) {
  const std::lock_guard lock(mutex_);
  const auto at = find_live(session_id, agent_id);
  if (at == sessions_.end()) return false;
  sessions_.erase(at);
  return true;
}

std::size_t Sessions::size() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

Sessions::Map::iterator Sessions::find_live(const std::string& session_id, const std::string& agent_id) {
  const auto at = sessions_.find(session_id);
  if (at == sessions_.end() || at->second.agent_id != agent_id) return sessions_.end();
  if (clock_.boot_ms() - at->second.used_at_ms < limits_.idle_ms) return at;
  sessions_.erase(at);
  return sessions_.end();
}

void Sessions::drop_idle() {
  const auto oldest = clock_.boot_ms() - limits_.idle_ms;
  std::erase_if(sessions_, [=](const auto& entry) { return entry.second.used_at_ms <= oldest; });
}

void Sessions::drop_one_of(const std::string& agent_id) {
  std::size_t count = 0;
  auto longest_idle = sessions_.end();
  for (auto at = sessions_.begin(); at != sessions_.end(); ++at) {
    if (at->second.agent_id != agent_id) continue;
    ++count;
    if (longest_idle == sessions_.end() || at->second.used_at_ms < longest_idle->second.used_at_ms) longest_idle = at;
  }
  if (count >= limits_.per_agent) sessions_.erase(longest_idle);
}

}  // namespace krux
