// Starts and drives a slack-emulator process in tests. What its control plane takes: test/emulators/README.md.
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/http.hpp"
#include "support/process.hpp"

namespace krux::test {

struct SlackEmulatorOptions {
  std::vector<std::string> tokens = {"xoxb-test-token"};  // "TOKEN" with all scopes or "TOKEN:scope,scope"
  bool driven_clock = true;
  std::int64_t start_ms = 1700000000000;  // of a driven clock
  std::vector<std::string> arguments;     // further ones
  std::string program;                    // empty: the one of this build
};

// Every call throws std::runtime_error with the emulator's own words when it refuses. JSON arguments are texts.
class SlackEmulator {
 public:
  explicit SlackEmulator(SlackEmulatorOptions options = {});

  std::uint16_t port() const { return port_; }
  std::string api_base_url() const;                         // "http://127.0.0.1:PORT/api/"
  std::string origin() const;                               // "http://127.0.0.1:PORT"
  const std::string& token() const { return bare_token_; }  // the first one, without its scopes
  Process& process() { return *process_; }

  void seed(const std::string& json) { control("POST", "seed", json); }
  // Answers with the document that the emulator gave, such as {"ok":true,"ts":"…"}.
  rapidjson::Document act(const std::string& json) { return control("POST", "act", json); }
  void limits(const std::string& json) { control("POST", "limits", json); }
  void behaviour(const std::string& json) { control("POST", "behaviour", json); }
  void fault(const std::string& json) { control("POST", "fault", json); }
  void clear_faults() { control("DELETE", "faults"); }
  void oauth(const std::string& json) { control("POST", "oauth", json); }
  rapidjson::Document oauth() { return control("GET", "oauth"); }  // the provider's facts, below "oauth"
  int release(bool answer = false);                                // the effects applied
  void reset() { control("POST", "reset"); }
  void set_ms(std::int64_t now_ms);
  void advance_ms(std::int64_t by_ms);

  rapidjson::Document state() { return control("GET", "state"); }
  rapidjson::Document log(const std::string& method = "");
  rapidjson::Document messages(const std::string& channel);  // all that live in it, replies too, ascending

  // Out of state():
  std::int64_t calls(const std::string& method);           // requests, refused ones too
  std::int64_t max_per_minute(const std::string& method);  // the most of them within any 60 s of its time
  std::int64_t posted(const std::string& write_id);        // messages that ever carried the marker
  std::int64_t live(const std::string& write_id);          // those of them that are not deleted
  std::int64_t effect(const std::string& name);            // "posts", "edits", "deletes", "reactions_added", ...
  std::int64_t hanging();
  std::int64_t pending_effects();

  // A call of the API with the first token, as a form.
  HttpReply call(const std::string& method, const std::map<std::string, std::string>& parameters = {});

  rapidjson::Document control(const std::string& verb, const std::string& what, const std::string& json = "");

 private:
  std::unique_ptr<Process> process_;
  std::uint16_t port_ = 0;
  std::string bare_token_;
};

}  // namespace krux::test
