// Calls as they fare on the wire: at once, later, wrongly or never, as the faults say.
#pragma once

#include <functional>
#include <list>
#include <memory>

#include "emulators/common/emulator_clock.hpp"
#include "emulators/common/faults.hpp"
#include "emulators/common/http_types.hpp"
#include "emulators/common/journal.hpp"

namespace krux::test::emulator {

// The effect, if any, has happened. `error` is empty where the service says that it went well.
struct Performed {
  HttpAnswer http;
  std::string error;
};
using Work = std::function<Performed()>;

class Performer {
 public:
  // One thread: all calls and what run_later runs. The references must outlive it.
  Performer(EmulatorClock& clock, Journal& journal, const FaultDialect& dialect, RunLater run_later)
      : clock_(clock), journal_(journal), dialect_(dialect), run_later_(std::move(run_later)) {}

  // `number` is the call's in the journal. `work` runs at most once, now, later or never.
  void perform(std::uint64_t number, const std::optional<Fault>& fault, const Work& work,
               std::shared_ptr<Responder> responder);

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
    Work work;
    std::uint64_t number = 0;  // in the journal
    bool effect_pending = false;
    std::optional<std::int64_t> due_ms;
    std::optional<HttpAnswer> ready;  // the answer of an effect that was applied
    std::shared_ptr<Responder> responder;
  };

  void perform_faulty(std::uint64_t number, const Fault& fault, const Work& work, std::shared_ptr<Responder> responder);
  void hold(std::uint64_t number, const Fault& fault, const Work& work, std::optional<HttpAnswer> ready,
            std::shared_ptr<Responder> responder);

  EmulatorClock& clock_;
  Journal& journal_;
  const FaultDialect& dialect_;
  RunLater run_later_;
  std::list<Held> held_;
};

}  // namespace krux::test::emulator
