// The control plane under /_emulator/: what tests ask of the emulator. Described in test/emulators/README.md.
#pragma once

#include "emulators/slack/api.hpp"

namespace krux::test::slack {

class Control {
 public:
  Control(State& state, Api& api) : state_(state), api_(api) {}

  // `request.path` begins with /_emulator/. A request that is not understood is answered with 400 and a sentence.
  HttpAnswer handle(const HttpRequest& request);

 private:
  HttpAnswer get(const HttpRequest& request);
  HttpAnswer post(const std::string& what, const rapidjson::Value& document);

  bool set_clock(const rapidjson::Value& document, JsonOut& out, std::string& problem);
  bool set_limits(const rapidjson::Value& document, std::string& problem);
  bool set_behaviour(const rapidjson::Value& document, std::string& problem);
  void write_state(JsonOut& out) const;
  static void write_methods(JsonOut& out);
  void write_messages(const Channel& channel, JsonOut& out) const;

  State& state_;
  Api& api_;
};

// What a person, or an administrator, does in the workspace: POST /_emulator/act.
bool act(State& state, const rapidjson::Value& document, JsonOut& out, std::string& problem);

}  // namespace krux::test::slack
