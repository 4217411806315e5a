// What operators are told of replicas beside their services.
#include <algorithm>
#include <cstddef>

#include "core/util/json_out.hpp"
#include "host/operator/operator_service.hpp"
#include "host/operator/problems_output.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostNamed = 200;

void put_account(JsonWriter& out, const ActiveAccount& account) {
  put(out, "service", account.ref.service);
  put(out, "account_id", account.ref.account_id);
  put(out, "account_name", account.display_name);
}

}  // namespace

std::string OperatorService::verify_replica(const std::string& service, const ReplicaOrder& order, const std::string&) {
  must_be_loaded(service);
  const auto [account, verified] =
      parts_.services.verify_replica(service, order.account, {order.records, order.minutes * 60'000});
  return json_object([&, &account = account, &verified = verified](JsonWriter& out) {
    put_account(out, *account);
    put(out, "whole", verified.whole);
    put(out, "compared", verified.compared);
    put(out, "differ", static_cast<std::int64_t>(verified.differences.size()));
    put(out, "more", verified.more);
    put(out, "unsettled", verified.unsettled);
    put(out, "left_out", verified.left_out);
    auto named = verified.differences;
    named.resize(std::min(named.size(), kMostNamed));
    put_objects(out, "differences", named, [&](const NamedDifference& difference) {
      put(out, "kind", to_string(difference.kind));
      put(out, "collection", difference.collection);
      put(out, "id", difference.id);
      put(out, "members", difference.members);
    });
    put_problems(out, verified.problems);
  });
}

std::string OperatorService::rebuild_replica(const std::string& service, const std::string& account,
                                             const std::string&) {
  must_be_loaded(service);
  const auto rebuilt = parts_.services.rebuild_replica(service, account);
  return json_object([&](JsonWriter& out) { put_account(out, *rebuilt); });
}

}  // namespace krux
