#include "emulators/gmail/api.hpp"

#include "emulators/gmail/batch.hpp"
#include "emulators/gmail/codec.hpp"

namespace krux::test::gmail {
namespace {

// Every answer of Google carries its clock.
class Dated : public Responder {
 public:
  Dated(std::shared_ptr<Responder> to, const EmulatorClock& clock) : to_(std::move(to)), clock_(clock) {}

  void answer(const HttpAnswer& answer) override { to_->answer(dated(answer)); }
  void raw_then_close(std::string bytes) override { to_->raw_then_close(std::move(bytes)); }
  void drip(const HttpAnswer& answer, std::size_t chunk_bytes, std::int64_t interval_ms) override {
    to_->drip(dated(answer), chunk_bytes, interval_ms);
  }
  void close() override { to_->close(); }
  void reset() override { to_->reset(); }
  bool is_open() const override { return to_->is_open(); }

 private:
  HttpAnswer dated(HttpAnswer answer) const {
    std::string date = format_date(clock_.now_ms());
    answer.headers.emplace_back("Date", date.replace(date.size() - 5, 5, "GMT"));
    return answer;
  }

  std::shared_ptr<Responder> to_;
  const EmulatorClock& clock_;
};

bool is_answer(FaultKind kind) {
  return kind == FaultKind::http_status || kind == FaultKind::error || kind == FaultKind::rate_limited ||
         kind == FaultKind::body;
}

}  // namespace

std::optional<HttpAnswer> Api::admit(const Call& call, std::uint64_t number) {
  const std::optional<Access> access = state_.access(call.token);
  if (!call.target || !access) return std::nullopt;
  auto cost = state_.quota.costs.find(call.method);
  const std::int64_t units = cost == state_.quota.costs.end() ? call.target->units : cost->second;
  const std::int64_t now_ms = state_.clock.now_ms();
  const auto retry_at = state_.quota.take(lower(access->address), units, now_ms);
  if (!retry_at) return std::nullopt;
  Failure failure = quota_exceeded(state_.behaviour.quota_answer, *retry_at);
  if (state_.behaviour.quota_retry_after) {
    failure.headers.emplace_back("Retry-After", std::to_string((*retry_at - now_ms + 999) / 1000));
  }
  // The journal counts a refusal for the quota by the status 429, whatever the caller is told.
  state_.journal.finish(number, 429, failure.reason);
  return to_answer(failure);
}

void Api::start(std::uint64_t number, const std::optional<Fault>& fault, const Work& work,
                std::shared_ptr<Responder> responder) {
  if (fault) state_.journal.fault(number, fault->kind_name);
  if (state_.settings.latency_ms == 0) return held.perform(number, fault, work, std::move(responder));
  run_later_(state_.settings.latency_ms,
             [this, number, fault, work, responder] { held.perform(number, fault, work, responder); });
}

void Api::handle(const HttpRequest& request, std::shared_ptr<Responder> caller) {
  held.run_due();
  auto responder = std::make_shared<Dated>(std::move(caller), state_.clock);
  if (const auto route = state_.oauth.route(request)) {
    const std::uint64_t number = state_.journal.begin(route->record, state_.clock.now_ms());
    return start(number, state_.faults.take(route->record), route->work, std::move(responder));
  }
  if (request.path == "/batch/gmail/v1" || request.path == "/batch") return handle_batch(request, responder);
  const Call call = read_call(request);
  const std::uint64_t number = state_.journal.begin(call, state_.clock.now_ms());
  if (const auto refused = admit(call, number)) return responder->answer(*refused);
  start(
      number, state_.faults.take(call), [this, call] { return run_method(state_, call); }, std::move(responder));
}

HttpAnswer Api::run_in_batch(const HttpRequest& request, std::optional<Fault>& connection_fault) {
  Call call = read_call(request);
  call.encoding = "batch";
  if (request.path.rfind("/upload/", 0) == 0) call.target = nullptr;
  const std::uint64_t number = state_.journal.begin(call, state_.clock.now_ms());
  if (const auto refused = admit(call, number)) return *refused;
  const std::optional<Fault> fault = state_.faults.take(call);
  if (fault) state_.journal.fault(number, fault->kind_name);
  Performed real;
  const bool happens = !fault || fault->effect == FaultEffect::applied || !is_answer(fault->kind);
  if (happens) real = run_method(state_, call);
  state_.journal.finish(number, real.http.status, real.error);
  if (!fault) return real.http;
  if (is_answer(fault->kind)) return faulty_answer(*fault, real.http, fault_dialect());
  connection_fault = fault;
  return real.http;
}

void Api::handle_batch(const HttpRequest& request, std::shared_ptr<Responder> responder) {
  CallRecord record;
  record.verb = request.method;
  record.method = "batch";
  record.encoding = "multipart";
  record.token_from = request.header("authorization").empty() ? "none" : "header";
  const std::uint64_t number = state_.journal.begin(record, state_.clock.now_ms());
  const auto run = [this](const HttpRequest& whole, std::optional<Fault>& of_parts) {
    const HttpAnswer answer =
        answer_batch(whole, [&](const HttpRequest& part) { return run_in_batch(part, of_parts); });
    return Performed{answer, answer.status == 200 ? "" : "badRequest"};
  };
  if (const std::optional<Fault> fault = state_.faults.take(record)) {
    const Work work = [run, request] {
      std::optional<Fault> of_parts;
      return run(request, of_parts);
    };
    return start(number, fault, work, std::move(responder));
  }
  // A fault of a part that is no answer of its own strikes the connection, once all parts have had their effect.
  std::optional<Fault> of_parts;
  Performed performed = run(request, of_parts);
  if (of_parts) of_parts->effect = FaultEffect::applied;
  start(
      number, of_parts, [performed] { return performed; }, std::move(responder));
}

}  // namespace krux::test::gmail
