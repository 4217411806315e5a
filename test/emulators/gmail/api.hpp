// The API as it is reached over HTTP: quota, faults, batches, and calls whose effect or answer is held back.
#pragma once

#include "emulators/common/performer.hpp"
#include "emulators/gmail/fault_dialect.hpp"
#include "emulators/gmail/methods.hpp"

namespace krux::test::gmail {

class Api {
 public:
  // One thread: all calls and what run_later runs. Both must outlive it.
  Api(State& state, RunLater run_later)
      : held(state.clock, state.journal, fault_dialect(), run_later), state_(state), run_later_(std::move(run_later)) {}

  // Everything but the control plane.
  void handle(const HttpRequest& request, std::shared_ptr<Responder> responder);

  Performer held;  // what hangs or comes late

 private:
  void handle_batch(const HttpRequest& request, std::shared_ptr<Responder> responder);
  // What comes before a method is run: journal and quota. The answer if it ends there.
  std::optional<HttpAnswer> admit(const Call& call, std::uint64_t number);
  HttpAnswer run_in_batch(const HttpRequest& request, std::optional<Fault>& connection_fault);
  void start(std::uint64_t number, const std::optional<Fault>& fault, const Work& work,
             std::shared_ptr<Responder> responder);

  State& state_;
  RunLater run_later_;
};

}  // namespace krux::test::gmail
