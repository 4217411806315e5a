// The whole chain with accounts that are connected in a browser: the host, an emulated Slack with its provider, the
// operator's command, and a person at the page of consent.
#pragma once

#include "host_fixture.hpp"

namespace krux::test {

inline constexpr const char* kPublicClient = "3333.4444";
inline constexpr const char* kClassicClient = "1111.2222";
inline constexpr const char* kClassicSecret = "classic-secret-0f-the-app";
inline constexpr const char* kPastedAddress = "https://localhost:8081/oauth/callback";

struct OauthOptions {
  bool rotation = true;
  std::vector<std::string> people;  // "USER[@TEAM]"; empty: one of the workspace
  std::string service, config;      // as RigOptions
};

class OauthRig : public Rig {
 public:
  explicit OauthRig(const OauthOptions& options = {});

  void begin_by(const Consent& consent = {});  // start, connect_by, first sync done, an agent with a key

  std::uint16_t callback_port() const { return callback_port_; }

 private:
  explicit OauthRig(const OauthOptions& options, std::uint16_t callback_port);

  std::uint16_t callback_port_;
};

}  // namespace krux::test
