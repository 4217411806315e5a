// The outgoing webhook, as the operator sees it.
#include "core/notify/webhook.hpp"
#include "core/util/json_out.hpp"
#include "host/operator/operator_service.hpp"

namespace krux {

std::string OperatorService::webhook() {
  return json_object([&](JsonWriter& out) {
    put(out, "configured", parts_.webhook != nullptr);
    if (!parts_.webhook) return;
    const auto status = parts_.webhook->status();
    put(out, "origin", status.origin);
    put(out, "secret_file", parts_.config.webhook.secret_file.string());
    put(out, "details", parts_.config.webhook.details);
    put(out, "delivered", status.delivered);
    put(out, "delivered_at_ms", status.delivered_at_ms);
    if (status.failures == 0) return;
    put(out, "failures", status.failures);
    put(out, "failing_since_ms", status.failing_since_ms);
    put(out, "problem", status.problem);
  });
}

std::string OperatorService::test_webhook() {
  if (!parts_.webhook)
    throw conflict("There is no webhook: set webhook.url in the configuration and start the host again.");
  const auto problem = parts_.webhook->test();
  if (problem) throw Error(ErrorCode::kServiceUnavailable, *problem, true);
  return json_object([&](JsonWriter& out) { put(out, "delivered_to", parts_.webhook->status().origin); });
}

}  // namespace krux
