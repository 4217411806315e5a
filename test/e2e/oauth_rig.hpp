// The whole chain with accounts that are connected in a browser: the host, an emulated Slack with its provider, the
// operator's command, and a person at the page of consent.
#pragma once

#include "host_fixture.hpp"
#include "support/oauth_browser.hpp"

namespace krux::test {

inline constexpr const char* kPublicClient = "3333.4444";
inline constexpr const char* kClassicClient = "1111.2222";
inline constexpr const char* kClassicSecret = "classic-secret-0f-the-app";
inline constexpr const char* kPastedAddress = "https://localhost:8081/oauth/callback";

struct OauthOptions {
  bool rotation = true;
  std::vector<std::string> people;  // "USER[@TEAM]"; empty: one of the workspace
  std::string slack, config;        // as RigOptions
};

// One `kruxos connect` that is under way.
class Connecting {
 public:
  Connecting(std::unique_ptr<Process> command) : command_(std::move(command)) {}
  std::string address();  // what the browser is to open; throws when the command ends without saying one
  bool running() { return command_->running(); }
  Finished end(milliseconds timeout = milliseconds(30000));

 private:
  std::unique_ptr<Process> command_;
};

class OauthRig : public Rig {
 public:
  explicit OauthRig(const OauthOptions& options = {});

  Connecting connecting(std::vector<std::string> arguments = {});
  // The command, the browser and what the browser showed at the end, all the way.
  Finished connect_by(const Consent& consent = {}, const std::vector<std::string>& arguments = {});
  void begin_by(const Consent& consent = {});  // start, connect_by, first sync done, an agent with a key

  Json facts() { return slack().oauth(); }
  std::int64_t counted(const std::string& counter) { return number_at(facts(), "/oauth/counters/" + counter); }
  std::int64_t live_grants() { return number_at(facts(), "/oauth/live_grants"); }
  // Nothing that the provider issued, and no client secret, stands in the host's log, in what the command printed or in
  // any file below the data directory.
  void check_no_secret();

  std::uint16_t callback_port() const { return callback_port_; }
  std::string last_page;  // of the browser

 private:
  explicit OauthRig(const OauthOptions& options, std::uint16_t callback_port);

  std::uint16_t callback_port_;
  std::string printed_;
};

}  // namespace krux::test
