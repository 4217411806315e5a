// What tests ask of the Slack emulator, beyond what they ask of every one. Described in test/emulators/README.md.
#pragma once

#include "emulators/common/control_plane.hpp"
#include "emulators/slack/api.hpp"

namespace krux::test::slack {

class Control : public ControlPlane {
 public:
  Control(State& state, Api& api)
      : ControlPlane(state.clock, state.journal, state.faults, fault_dialect(), api.held), state_(state) {}

 private:
  Outcome get_own(const std::string& what, const std::map<std::string, std::string>& query, JsonOut& out,
                  std::string& problem) override;
  Outcome post_own(const std::string& what, const rapidjson::Value& document, JsonOut& out,
                   std::string& problem) override;
  std::string own_gets() const override { return "state, methods, oauth and messages?channel=C…"; }
  std::string own_posts() const override { return "seed, act, limits, behaviour and oauth"; }
  void reset() override { state_.reset(); }

  bool set_limits(const rapidjson::Value& document, std::string& problem);
  bool set_behaviour(const rapidjson::Value& document, std::string& problem);
  void write_state(JsonOut& out) const;
  static void write_methods(JsonOut& out);
  void write_messages(const Channel& channel, JsonOut& out) const;

  State& state_;
};

// What a person, or an administrator, does in the workspace: POST /_emulator/act.
bool act(State& state, const rapidjson::Value& document, JsonOut& out, std::string& problem);

}  // namespace krux::test::slack
