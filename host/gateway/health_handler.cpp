#include <fmt/format.h>

#include "host/gateway/agent_gateway.hpp"
#include "host/gateway/foreign_requests.hpp"
#include "host/gateway/gateway_answers.hpp"

namespace krux {

Handler health_handler(HealthSource& source, std::function<void(Respond)> metrics) {
  return [&source, metrics = std::move(metrics)](const ServerRequest& request, const Respond& respond) {
    if (auto refused = refuse_foreign(request, true)) return respond(*std::move(refused));
    const bool ready = request.path == "/health/ready";
    const bool page = metrics && request.path == "/metrics";
    if (!ready && !page && request.path != "/health")
      return respond(
          error_response(ErrorCode::kNotFound, fmt::format("There is nothing here but /health{} /health/ready{}",
                                                           metrics ? "," : " and", metrics ? " and /metrics." : ".")));
    if (request.method != "GET") return respond(wrong_method("GET, HEAD"));
    if (page) return metrics(respond);
    Health health = source.health();
    ServerResponse response;
    const bool good = ready ? health.ready : health.status != "critical";
    response.status = good ? 200 : 503;
    response.body = ready ? fmt::format(R"({{"ready":{}}})", health.ready) : std::move(health.json);
    respond(std::move(response));
  };
}

}  // namespace krux
