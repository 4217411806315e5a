#include "host/operator/control_server.hpp"

#include <sodium.h>

#include "host/http/worker_pool.hpp"
#include "host/operator/routes.hpp"

namespace krux {

ControlServer::ControlServer(OperatorApi& api, Options options)
    : api_(api), options_(options), pool_(std::make_unique<WorkerPool>(options.threads, options.max_queued)) {}

ControlServer::~ControlServer() = default;

Handler ControlServer::handler() {
  return [this](ServerRequest request, Respond respond) { take(std::move(request), std::move(respond)); };
}

void ControlServer::take(ServerRequest request, Respond respond) {
  const auto shared = std::make_shared<ServerRequest>(std::move(request));
  const auto refuse = [&](ErrorCode type, const char* message) {
    sodium_memzero(shared->body.data(), shared->body.size());
    respond(error_response(type, message));
  };
  const auto& peer = shared->peer;
  if (!peer.local || (peer.uid != options_.owner && peer.uid != 0))
    return refuse(ErrorCode::kPolicyDenied, "Only the host's own user and root may operate it.");
  if (shared->header("origin")) return refuse(ErrorCode::kPolicyDenied, "Requests from web pages are refused.");
  const bool taken = pool_->run(
      [this, shared, respond] { respond(run_operator_request(api_, *shared, options_.gate, options_.audit)); });
  if (!taken) refuse(ErrorCode::kServiceUnavailable, "Too many operations wait already. Try again in a moment.");
}

}  // namespace krux
