// Starts and drives a gmail-emulator process in tests. What its control plane takes: test/emulators/README.md.
#pragma once

#include "support/emulator_process.hpp"

namespace krux::test {

struct GmailEmulatorOptions {
  std::vector<std::string> tokens = {"ya29.test-token"};  // "TOKEN[@ADDRESS][:scope,scope][;expires_ms=N]"
  std::string address = "agent@example.com";              // of the first mailbox
  bool driven_clock = true;
  std::int64_t start_ms = 1700000000000;  // of a driven clock
  std::vector<std::string> arguments;     // further ones
  std::string program;                    // empty: the one of this build
};

class GmailEmulator : public EmulatorProcess {
 public:
  explicit GmailEmulator(const GmailEmulatorOptions& options = {});

  std::string api_base_url() const;                         // "http://127.0.0.1:PORT/"
  const std::string& token() const { return bare_token_; }  // the first one, alone
  const std::string& address() const { return address_; }

  void quota(const std::string& json) { control("POST", "quota", json); }
  // All that a mailbox holds, newest first; an empty address: the first mailbox.
  rapidjson::Document messages(const std::string& mailbox = "");

  // Out of state(), of the first mailbox:
  std::int64_t sent(const std::string& write_id);         // messages that were ever sent with the marker
  std::int64_t live(const std::string& write_id);         // those of them that exist
  std::int64_t drafts(const std::string& write_id);       // drafts that ever carried it
  std::int64_t drafts_live(const std::string& write_id);  // those of them that exist
  std::int64_t effect(const std::string& name);           // "sends", "modifies", "drafts_created", ...
  std::int64_t units_per_minute();                        // the most quota units in any 60 s of its time

  // A call of the API with the first token. `target` below /gmail/v1/users/me/, with its query.
  HttpReply call(const std::string& verb, const std::string& target, const std::string& json = "");

 private:
  std::int64_t marker_count(const std::string& write_id, const std::string& what);

  std::string bare_token_, address_;
};

}  // namespace krux::test
