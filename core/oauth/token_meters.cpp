#include "core/oauth/token_meters.hpp"

#include "core/metrics/account_label.hpp"

namespace krux {
namespace {

constexpr MetricName kRefreshes{"kruxos_token_refreshes_total", "Renewals of access tokens, by outcome."};

MetricLabels renewal_labels(const std::string& service, const std::string& account_id, std::string_view outcome) {
  return {{"service", service}, {"account", account_label(account_id)}, {"outcome", std::string(outcome)}};
}

}  // namespace

void TokenMeters::begin(const std::string& service, const std::string& account_id) {
  registry_.counter(kRefreshes, renewal_labels(service, account_id, "renewed"));
}

void TokenMeters::refreshed(const std::string& service, const std::string& account_id, std::string_view outcome) {
  registry_.counter(kRefreshes, renewal_labels(service, account_id, outcome)).add();
}

}  // namespace krux
