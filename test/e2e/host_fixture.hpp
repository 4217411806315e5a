// The whole chain with Slack.
#pragma once

#include "host_rig.hpp"
#include "support/slack_emulator.hpp"

namespace krux::test {

inline constexpr const char* kToken = "xoxb-e2e-5ecret-0f-the-workspace";
// The seed: kGeneral with three messages (one with a thread), kRandom with one.
inline constexpr const char* kGeneral = "C0GENERAL01";
inline constexpr const char* kRandom = "C0RANDOM001";

class Rig : public HostRig {
 public:
  explicit Rig(const RigOptions& options = {});

  void connect_account() override { connect(); }
  void connect(const std::string& token = kToken);
  Answer send(const std::string& text, const std::string& channel = "general");

  SlackEmulator& slack() { return static_cast<SlackEmulator&>(service()); }
  std::int64_t posts_of(const std::string& text);  // messages of that text that live in kGeneral and kRandom
};

}  // namespace krux::test
