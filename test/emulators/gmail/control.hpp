// What tests ask of the Gmail emulator, beyond what they ask of every one. Described in test/emulators/README.md.
#pragma once

#include "emulators/common/control_plane.hpp"
#include "emulators/gmail/api.hpp"

namespace krux::test::gmail {

class Control : public ControlPlane {
 public:
  Control(State& state, Api& api)
      : ControlPlane(state.clock, state.journal, state.faults, fault_dialect(), api.held), state_(state) {}

 private:
  Outcome get_own(const std::string& what, const std::map<std::string, std::string>& query, JsonOut& out,
                  std::string& problem) override;
  Outcome post_own(const std::string& what, const rapidjson::Value& document, JsonOut& out,
                   std::string& problem) override;
  std::string own_gets() const override { return "state, methods, oauth and messages[?mailbox=ADDRESS]"; }
  std::string own_posts() const override { return "seed, act, quota, behaviour and oauth"; }
  void reset() override { state_.reset(); }

  bool set_quota(const rapidjson::Value& document, std::string& problem);
  bool set_behaviour(const rapidjson::Value& document, std::string& problem);
  void write_state(JsonOut& out) const;
  static void write_mailbox(const Mailbox& mailbox, const Quota& quota, JsonOut& out);
  static void write_methods(JsonOut& out);

  State& state_;
};

// What a person does in a mailbox, or an administrator with tokens: POST /_emulator/act.
bool act(State& state, const rapidjson::Value& document, JsonOut& out, std::string& problem);
// The mailbox that a document of the control plane names; without a name the first. Null: there is none.
Mailbox* named_mailbox(State& state, const rapidjson::Value& document, std::string& problem);

}  // namespace krux::test::gmail
