// The API as it is reached over HTTP: rate limits, faults, and calls whose effect or answer is held back.
#pragma once

#include <memory>

#include "emulators/common/performer.hpp"
#include "emulators/slack/fault_dialect.hpp"
#include "emulators/slack/methods.hpp"
#include "emulators/slack/state.hpp"

namespace krux::test::slack {

class Api {
 public:
  // One thread: all calls and what run_later runs. Both must outlive it.
  Api(State& state, RunLater run_later)
      : held(state.clock, state.journal, fault_dialect(), run_later), state_(state), run_later_(std::move(run_later)) {}

  void handle(const HttpRequest& request, std::shared_ptr<Responder> responder);

  Performer held;  // what hangs or comes late

 private:
  Performed run(const Call& call);
  void authorize(const oauth::Provider::Route& route, std::shared_ptr<Responder> responder);

  State& state_;
  RunLater run_later_;
};

}  // namespace krux::test::slack
