// The control plane under /_emulator/, as far as it is the same for every emulator: log, faults, clock, release, reset.
// What a service has of its own, an emulator adds by deriving. Described in test/emulators/README.md.
#pragma once

#include "emulators/common/performer.hpp"

namespace krux::test::emulator {

class ControlPlane {
 public:
  ControlPlane(EmulatorClock& clock, Journal& journal, Faults& faults, const FaultDialect& dialect,
               Performer& performer)
      : clock_(clock), journal_(journal), faults_(faults), dialect_(dialect), performer_(performer) {}
  virtual ~ControlPlane() = default;

  // `request.path` begins with /_emulator/. A request that is not understood is answered with 400 and a sentence.
  HttpAnswer handle(const HttpRequest& request);

 protected:
  enum class Outcome { done, refused, unknown };

  // Fields of the answer go into `out`, whose object is open; a refusal's sentence into `problem`.
  virtual Outcome get_own(const std::string& what, const std::map<std::string, std::string>& query, JsonOut& out,
                          std::string& problem) = 0;
  virtual Outcome post_own(const std::string& what, const rapidjson::Value& document, JsonOut& out,
                           std::string& problem) = 0;
  // What there is beside the common ones, for the sentence that refuses others: "methods, messages?channel=C…".
  virtual std::string own_gets() const = 0;
  virtual std::string own_posts() const = 0;
  virtual void reset() = 0;
  // now_ms, driven, hanging, pending_effects and the journal's counters.
  void write_common_state(JsonOut& out) const;

 private:
  HttpAnswer get(const std::string& what, const HttpRequest& request);
  HttpAnswer post(const std::string& what, const rapidjson::Value& document);
  Outcome post_common(const std::string& what, const rapidjson::Value& document, JsonOut& out, std::string& problem);
  bool set_clock(const rapidjson::Value& document, JsonOut& out, std::string& problem);

  EmulatorClock& clock_;
  Journal& journal_;
  Faults& faults_;
  const FaultDialect& dialect_;
  Performer& performer_;
};

}  // namespace krux::test::emulator
