// The API as it is reached over HTTP: rate limits, faults, and calls whose effect or answer is held back.
#pragma once

#include <list>
#include <memory>

#include "emulators/slack/http_types.hpp"
#include "emulators/slack/methods.hpp"
#include "emulators/slack/state.hpp"

namespace krux::test::slack {

class Api {
 public:
  // One thread: all calls and what run_later runs. Both must outlive it.
  Api(State& state, RunLater run_later) : state_(state), run_later_(std::move(run_later)) {}

  void handle(const HttpRequest& request, std::shared_ptr<Responder> responder);

  // Applies the effects that are held back and lets go of hanging connections: with an answer where there is one to
  // give and `answer` is set, else by closing them. Returns how many effects were applied.
  int release(bool answer);
  // Applies what is due by the emulator's clock. Called whenever that may have moved.
  void run_due();
  // Closes every held connection and forgets effects that have not been applied.
  void drop_held();

  int hanging() const;          // connections that wait and are still open
  int pending_effects() const;  // effects accepted and not yet applied

 private:
  struct Held {
    Call call;
    std::uint64_t number = 0;  // in the journal
    bool effect_pending = false;
    std::optional<std::int64_t> due_ms;
    std::optional<HttpAnswer> ready;  // the answer of an effect that was applied
    std::shared_ptr<Responder> responder;
  };

  MethodAnswer run(const Call& call);
  void perform(const Call& call, std::uint64_t number, const std::optional<Fault>& fault,
               std::shared_ptr<Responder> responder);
  void perform_faulty(const Call& call, std::uint64_t number, const Fault& fault, std::shared_ptr<Responder> responder);
  void hold(const Call& call, std::uint64_t number, const Fault& fault, std::optional<HttpAnswer> ready,
            std::shared_ptr<Responder> responder);

  State& state_;
  RunLater run_later_;
  std::list<Held> held_;
};

}  // namespace krux::test::slack
