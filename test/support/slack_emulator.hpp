// Starts and drives a slack-emulator process in tests. What its control plane takes: test/emulators/README.md.
#pragma once

#include <map>

#include "support/emulator_process.hpp"

namespace krux::test {

struct SlackEmulatorOptions {
  std::vector<std::string> tokens = {"xoxb-test-token"};  // "TOKEN" with all scopes or "TOKEN:scope,scope"
  bool driven_clock = true;
  std::int64_t start_ms = 1700000000000;  // of a driven clock
  std::vector<std::string> arguments;     // further ones
  std::string program;                    // empty: the one of this build
};

class SlackEmulator : public EmulatorProcess {
 public:
  explicit SlackEmulator(const SlackEmulatorOptions& options = {});

  std::string api_base_url() const;                         // "http://127.0.0.1:PORT/api/"
  const std::string& token() const { return bare_token_; }  // the first one, without its scopes

  void limits(const std::string& json) { control("POST", "limits", json); }
  rapidjson::Document messages(const std::string& channel);  // all that live in it, replies too, ascending

  // Out of state():
  std::int64_t posted(const std::string& write_id);  // messages that ever carried the marker
  std::int64_t live(const std::string& write_id);    // those of them that are not deleted
  std::int64_t effect(const std::string& name);      // "posts", "edits", "deletes", "reactions_added", ...

  // A call of the API with the first token, as a form.
  HttpReply call(const std::string& method, const std::map<std::string, std::string>& parameters = {});

 private:
  std::string bare_token_;
};

}  // namespace krux::test
