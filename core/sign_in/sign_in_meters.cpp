#include "core/sign_in/sign_in_meters.hpp"

#include <array>

namespace krux {
namespace {

constexpr MetricName kRequests{"kruxos_sign_in_requests_total", "Requests to sign in, by what became of them."};
constexpr MetricName kTokens{"kruxos_sign_in_tokens_total", "Tokens of hosts that sign in, by what became of them."};
constexpr std::array<const char*, 3> kOfRequests{"begun", "accepted", "rejected"};
constexpr std::array<const char*, 4> kOfTokens{"issued", "refreshed", "revoked", "replayed"};

}  // namespace

SignInMeters::SignInMeters(MetricRegistry& registry)
    : requests_(registry, kRequests, {}, "outcome", kOfRequests), tokens_(registry, kTokens, {}, "outcome", kOfTokens) {
  // An alert on the first one needs the line before it.
  for (std::size_t i = 0; i < kOfRequests.size(); ++i) requests_.add(i, 0);
  for (std::size_t i = 0; i < kOfTokens.size(); ++i) tokens_.add(i, 0);
}

}  // namespace krux
