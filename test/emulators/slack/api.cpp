#include "emulators/slack/api.hpp"

#include "emulators/slack/fault_dialect.hpp"

namespace krux::test::slack {
namespace {

HttpAnswer plain(int status, const std::string& text) {
  HttpAnswer answer;
  answer.status = status;
  answer.content_type = "text/plain; charset=utf-8";
  answer.body = text;
  return answer;
}

}  // namespace

Performed Api::run(const Call& call) {
  return run_method({*state_.workspace, state_.tokens, state_.behaviour}, call, state_.clock.now_ms(),
                    state_.limits.max_items(call.method));
}

void Api::authorize(const oauth::Provider::Route& route, std::shared_ptr<Responder> responder) {
  const std::uint64_t number = state_.journal.begin(route.record, state_.clock.now_ms());
  const std::optional<Fault> fault = state_.faults.take(route.record);
  if (fault) state_.journal.fault(number, fault->kind_name);
  held.perform(number, fault, route.work, std::move(responder));
}

void Api::handle(const HttpRequest& request, std::shared_ptr<Responder> responder) {
  held.run_due();
  if (const auto route = state_.oauth.route(request)) return authorize(*route, std::move(responder));
  if (request.path.rfind("/api/", 0) != 0) return responder->answer(plain(404, "Not found"));
  if (request.method != "GET" && request.method != "POST") {
    return responder->answer(plain(405, "Slack takes GET and POST"));
  }
  const Call call = read_call(request, request.path.substr(5));
  const std::uint64_t number = state_.journal.begin(call, state_.clock.now_ms());
  if (const auto retry_after = state_.limits.take(call.method, state_.clock.now_ms())) {
    state_.journal.finish(number, 429, "ratelimited");
    return responder->answer(ratelimited(*retry_after));
  }
  const std::optional<Fault> fault = state_.faults.take(call);
  if (fault) state_.journal.fault(number, fault->kind_name);
  const Work work = [this, call] { return run(call); };
  if (state_.settings.latency_ms == 0) return held.perform(number, fault, work, std::move(responder));
  run_later_(state_.settings.latency_ms,
             [this, number, fault, work, responder] { held.perform(number, fault, work, responder); });
}

}  // namespace krux::test::slack
