#include "emulators/common/performer.hpp"

#include <algorithm>

namespace krux::test::emulator {
namespace {

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

void Performer::perform(std::uint64_t number, const std::optional<Fault>& fault, const Work& work,
                        std::shared_ptr<Responder> responder) {
  if (fault) return perform_faulty(number, *fault, work, std::move(responder));
  const Performed answer = work();
  journal_.finish(number, answer.http.status, answer.error);
  responder->answer(answer.http);
}

void Performer::perform_faulty(std::uint64_t number, const Fault& fault, const Work& work,
                               std::shared_ptr<Responder> responder) {
  std::optional<Performed> real;
  if (fault.effect == FaultEffect::applied) real = work();
  const HttpAnswer answer = real ? real->http : HttpAnswer{};
  switch (fault.kind) {
    case FaultKind::http_status:
    case FaultKind::error:
    case FaultKind::rate_limited:
    case FaultKind::body: {
      const HttpAnswer wrong = faulty_answer(fault, answer, dialect_);
      journal_.finish(number, wrong.status, fault.kind == FaultKind::error ? fault.error : "");
      return responder->answer(wrong);
    }
    case FaultKind::hang:
    case FaultKind::late:
      return hold(number, fault, work, real ? std::optional(real->http) : std::nullopt, std::move(responder));
    case FaultKind::reset:
      return responder->reset();
    case FaultKind::truncated:
      journal_.finish(number, answer.status, "");
      return send_half(*responder, answer, fault.framing == "short");
    case FaultKind::slow:
      journal_.finish(number, answer.status, "");
      return responder->drip(answer, static_cast<std::size_t>(fault.chunk_bytes), fault.interval_ms);
  }
}

void Performer::hold(std::uint64_t number, const Fault& fault, const Work& work, std::optional<HttpAnswer> ready,
                     std::shared_ptr<Responder> responder) {
  Held held;
  held.work = work;
  held.number = number;
  held.effect_pending = fault.effect == FaultEffect::on_release;
  held.ready = std::move(ready);
  if (fault.kind == FaultKind::hang || fault.connection == "hang")
    held.responder = std::move(responder);
  else
    responder->reset();
  if (fault.kind == FaultKind::late && fault.after_ms > 0) {
    held.due_ms = clock_.now_ms() + fault.after_ms;
    if (!clock_.is_driven()) run_later_(fault.after_ms, [this] { run_due(); });
  }
  held_.push_back(std::move(held));
}

int Performer::release(bool answer) {
  int applied = 0;
  for (Held& held : held_) {
    if (held.effect_pending) {
      held.ready = held.work().http;
      ++applied;
    }
    if (!held.responder || !held.responder->is_open()) continue;
    if (answer && held.ready) {
      journal_.finish(held.number, held.ready->status, "");
      held.responder->answer(*held.ready);
    } else {
      held.responder->close();
    }
  }
  held_.clear();
  return applied;
}

void Performer::run_due() {
  const std::int64_t now_ms = clock_.now_ms();
  for (auto held = held_.begin(); held != held_.end();) {
    if (!held->due_ms || *held->due_ms > now_ms) {
      ++held;
      continue;
    }
    held->work();
    if (held->responder) held->responder->close();
    held = held_.erase(held);
  }
}

void Performer::drop_held() {
  for (Held& held : held_) {
    if (held.responder) held.responder->close();
  }
  held_.clear();
}

int Performer::hanging() const {
  return static_cast<int>(std::count_if(held_.begin(), held_.end(),
                                        [](const Held& held) { return held.responder && held.responder->is_open(); }));
}

int Performer::pending_effects() const {
  return static_cast<int>(
      std::count_if(held_.begin(), held_.end(), [](const Held& held) { return held.effect_pending; }));
}

}  // namespace krux::test::emulator
