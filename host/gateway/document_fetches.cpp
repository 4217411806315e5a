#include "host/gateway/document_fetches.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace krux {

DocumentFetches::Begun DocumentFetches::fetch(const std::string& client_id, const std::string& peer, Fetched fetched) {
  const std::lock_guard lock(mutex_);
  if (const auto at = under_way_.find(client_id); at != under_way_.end()) {
    if (at->second.waiting.size() >= kMostWaiting) return Begun::kTooMany;
    at->second.waiting.push_back(std::move(fetched));
    return Begun::kYes;
  }
  if (of_peer(peer) >= kMostOfPeer) return Begun::kTooManyOfPeer;
  if (!threads_.run([this, client_id] { work(client_id); })) return Begun::kTooMany;
  auto& fetch = under_way_[client_id];
  fetch.peer = peer;
  fetch.waiting.push_back(std::move(fetched));
  return Begun::kYes;
}

std::size_t DocumentFetches::of_peer(const std::string& peer) const {
  return static_cast<std::size_t>(
      std::count_if(under_way_.begin(), under_way_.end(), [&](const auto& item) { return item.second.peer == peer; }));
}

void DocumentFetches::work(const std::string& client_id) {
  const auto outcome = [&]() -> Outcome {
    try {
      return documents_.fetch(client_id);
    } catch (const SignInRefused& why) {
      return why;
    } catch (const std::exception& why) {
      spdlog::error("sign-in: {}", why.what());
      return SignInRefused("invalid_client", "The host cannot fetch the client's document now. Its log says more.");
    }
  }();
  Fetch done;
  {
    // Who asks from now on finds it at hand, or has it fetched anew.
    const std::lock_guard lock(mutex_);
    const auto at = under_way_.find(client_id);
    done = std::move(at->second);
    under_way_.erase(at);
  }
  for (const auto& fetched : done.waiting) fetched(outcome);
}

}  // namespace krux
