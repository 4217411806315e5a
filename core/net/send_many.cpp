#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "core/net/account_http.hpp"

namespace krux {

std::vector<HttpOutcome> send_many(HttpClient& client, const CallContextPtr& call,
                                   std::span<const HttpRequest> requests, std::span<HttpSink* const> sinks,
                                   std::size_t side_by_side) {
  std::vector<HttpOutcome> outcomes(requests.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (auto i = next++; i < requests.size(); i = next++) {
      try {
        outcomes[i] = client.send(call, requests[i], *sinks[i]);
      } catch (const std::exception& e) {
        outcomes[i] = {KRUX_INTERNAL, e.what(), {}};
      }
    }
  };
  const auto senders = std::min(std::max<std::size_t>(side_by_side, 1), requests.size());
  std::vector<std::jthread> helpers;
  helpers.reserve(senders);
  try {
    while (helpers.size() + 1 < senders) helpers.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had: those that are there do the work.
  }
  work();
  helpers.clear();
  return outcomes;
}

}  // namespace krux
