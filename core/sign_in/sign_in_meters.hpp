// What happens at sign-in, counted.
#pragma once

#include "core/metrics/metric_registry.hpp"

namespace krux {

/// Any thread.
class SignInMeters {
 public:
  explicit SignInMeters(MetricRegistry& registry);
  enum class Request { kBegun, kAccepted, kRejected };
  void count(Request what) { requests_.add(static_cast<std::size_t>(what)); }
  enum class Tokens {
    kIssued,
    kRefreshed,
    kRevoked,  ///< by their client, by the operator or with their agent: once for a grant
    kReplayed  ///< an authorization code or a refresh token came a second time, and its grant has ended
  };
  void count(Tokens what) { tokens_.add(static_cast<std::size_t>(what)); }

 private:
  MetricCounters requests_, tokens_;
};

}  // namespace krux
