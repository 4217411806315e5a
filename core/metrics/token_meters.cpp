#include "core/metrics/token_meters.hpp"

#include "core/metrics/account_label.hpp"

namespace krux {
namespace {

constexpr MetricName kRefreshes{"kruxos_token_refreshes_total", "Renewals of access tokens, by outcome."};

}  // namespace

void TokenMeters::refreshed(const std::string& service, const std::string& account_id, std::string_view outcome) {
  registry_
      .counter(kRefreshes,
               {{"service", service}, {"account", account_label(account_id)}, {"outcome", std::string(outcome)}})
      .add();
}

}  // namespace krux
