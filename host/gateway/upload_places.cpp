#include "host/gateway/upload_places.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

namespace krux {

struct UploadPlaces::State {
  struct Arriving {
    std::size_t count = 0;
    std::int64_t bytes = 0;
  };
  std::mutex mutex;  ///< over what follows
  std::map<std::string, Arriving> of_agents;
  std::size_t count = 0;

  void give_back(const std::string& agent_id, std::int64_t bytes) {
    const std::lock_guard lock(mutex);
    --count;
    const auto at = of_agents.find(agent_id);
    at->second.bytes -= bytes;
    if (--at->second.count == 0) of_agents.erase(at);
  }
};

UploadPlaces::UploadPlaces(std::size_t of_agent, std::size_t of_all)
    : of_agent_(of_agent), of_all_(of_all), state_(std::make_shared<State>()) {}

std::variant<std::shared_ptr<BodyRoom>, std::string> UploadPlaces::take(const std::string& agent_id, std::int64_t bytes,
                                                                        const std::function<std::int64_t()>& room) {
  const std::lock_guard lock(state_->mutex);
  const auto at = state_->of_agents.find(agent_id);
  const auto arriving = at == state_->of_agents.end() ? State::Arriving{} : at->second;
  if (arriving.count >= of_agent_)
    return fmt::format(
        "{} uploads of this agent are under way, and no more are taken at a time. Try again when one of "
        "them has ended.",
        arriving.count);
  if (state_->count >= of_all_)
    return fmt::format("{} uploads are under way, and no more are taken at a time. Try again in a moment.",
                       state_->count);
  // Under the lock: an upload that ends meanwhile is counted as stored, as arriving or as both, never as neither.
  if (arriving.count > 0 && arriving.bytes + bytes > room())
    return std::string(
        "With what this agent is sending already, this upload would be more than it may keep. Try again when the "
        "others have ended.");
  auto place = std::make_shared<BodyRoom>([state = state_, agent_id, bytes] { state->give_back(agent_id, bytes); });
  auto& now = state_->of_agents[agent_id];
  ++now.count;
  now.bytes += bytes;
  ++state_->count;
  return place;
}

}  // namespace krux
