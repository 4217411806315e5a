#include "emulators/slack/api.hpp"

#include <algorithm>

namespace krux::test::slack {
namespace {

HttpAnswer plain(int status, const std::string& text) {
  HttpAnswer answer;
  answer.status = status;
  answer.content_type = "text/plain; charset=utf-8";
  answer.body = text;
  return answer;
}

HttpAnswer too_many(std::int64_t retry_after) {
  HttpAnswer answer;
  answer.status = 429;
  answer.headers.emplace_back("Retry-After", std::to_string(retry_after));
  answer.body = R"({"ok":false,"error":"ratelimited"})";
  return answer;
}

// Half of the answer. With `announce_all` the Content-Length is that of the whole body.
void send_half(Responder& responder, HttpAnswer answer, bool announce_all) {
  const std::size_t missing = answer.body.size() - answer.body.size() / 2;
  answer.body.resize(answer.body.size() / 2);
  if (announce_all)
    responder.raw_then_close(serialize(answer, missing));
  else
    responder.answer(answer);
}

}  // namespace

MethodAnswer Api::run(const Call& call) {
  return run_method({*state_.workspace, state_.tokens, state_.behaviour}, call, state_.clock.now_ms(),
                    state_.limits.max_items(call.method));
}

void Api::handle(const HttpRequest& request, std::shared_ptr<Responder> responder) {
  run_due();
  if (request.path.rfind("/api/", 0) != 0) return responder->answer(plain(404, "Not found"));
  if (request.method != "GET" && request.method != "POST") {
    return responder->answer(plain(405, "Slack takes GET and POST"));
  }
  const Call call = read_call(request, request.path.substr(5));
  const std::uint64_t number = state_.journal.begin(call, state_.clock.now_ms());
  if (const auto retry_after = state_.limits.take(call.method, state_.clock.now_ms())) {
    state_.journal.finish(number, 429, "ratelimited");
    return responder->answer(too_many(*retry_after));
  }
  const std::optional<Fault> fault = state_.faults.take(call);
  if (fault) state_.journal.fault(number, fault->kind_name);
  if (state_.settings.latency_ms == 0) return perform(call, number, fault, std::move(responder));
  run_later_(state_.settings.latency_ms,
             [this, call, number, fault, responder] { perform(call, number, fault, responder); });
}

void Api::perform(const Call& call, std::uint64_t number, const std::optional<Fault>& fault,
                  std::shared_ptr<Responder> responder) {
  if (fault) return perform_faulty(call, number, *fault, std::move(responder));
  const MethodAnswer answer = run(call);
  state_.journal.finish(number, answer.http.status, answer.error);
  responder->answer(answer.http);
}

void Api::perform_faulty(const Call& call, std::uint64_t number, const Fault& fault,
                         std::shared_ptr<Responder> responder) {
  std::optional<MethodAnswer> real;
  if (fault.effect == FaultEffect::applied) real = run(call);
  const HttpAnswer answer = real ? real->http : HttpAnswer{};
  switch (fault.kind) {
    case FaultKind::http_status:
    case FaultKind::error:
    case FaultKind::rate_limited:
    case FaultKind::body: {
      const HttpAnswer wrong = faulty_answer(fault, answer);
      state_.journal.finish(number, wrong.status, fault.kind == FaultKind::error ? fault.error : "");
      return responder->answer(wrong);
    }
    case FaultKind::hang:
    case FaultKind::late:
      return hold(call, number, fault, real ? std::optional(real->http) : std::nullopt, std::move(responder));
    case FaultKind::reset:
      return responder->reset();
    case FaultKind::truncated:
      state_.journal.finish(number, answer.status, "");
      return send_half(*responder, answer, fault.framing == "short");
    case FaultKind::slow:
      state_.journal.finish(number, answer.status, "");
      return responder->drip(answer, static_cast<std::size_t>(fault.chunk_bytes), fault.interval_ms);
  }
}

void Api::hold(const Call& call, std::uint64_t number, const Fault& fault, std::optional<HttpAnswer> ready,
               std::shared_ptr<Responder> responder) {
  Held held;
  held.call = call;
  held.number = number;
  held.effect_pending = fault.effect == FaultEffect::on_release;
  held.ready = std::move(ready);
  if (fault.kind == FaultKind::hang || fault.connection == "hang")
    held.responder = std::move(responder);
  else
    responder->reset();
  if (fault.kind == FaultKind::late && fault.after_ms > 0) {
    held.due_ms = state_.clock.now_ms() + fault.after_ms;
    if (!state_.clock.is_driven()) run_later_(fault.after_ms, [this] { run_due(); });
  }
  held_.push_back(std::move(held));
}

int Api::release(bool answer) {
  int applied = 0;
  for (Held& held : held_) {
    if (held.effect_pending) {
      held.ready = run(held.call).http;
      ++applied;
    }
    if (!held.responder || !held.responder->is_open()) continue;
    if (answer && held.ready) {
      state_.journal.finish(held.number, held.ready->status, "");
      held.responder->answer(*held.ready);
    } else {
      held.responder->close();
    }
  }
  held_.clear();
  return applied;
}

void Api::run_due() {
  const std::int64_t now_ms = state_.clock.now_ms();
  for (auto held = held_.begin(); held != held_.end();) {
    if (!held->due_ms || *held->due_ms > now_ms) {
      ++held;
      continue;
    }
    run(held->call);
    if (held->responder) held->responder->close();
    held = held_.erase(held);
  }
}

void Api::drop_held() {
  for (Held& held : held_) {
    if (held.responder) held.responder->close();
  }
  held_.clear();
}

int Api::hanging() const {
  return static_cast<int>(std::count_if(held_.begin(), held_.end(),
                                        [](const Held& held) { return held.responder && held.responder->is_open(); }));
}

int Api::pending_effects() const {
  return static_cast<int>(
      std::count_if(held_.begin(), held_.end(), [](const Held& held) { return held.effect_pending; }));
}

}  // namespace krux::test::slack
