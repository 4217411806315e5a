// What the drivers of all emulators share: the process, its port, and the common requests of the control plane
// (test/emulators/README.md).
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "support/http.hpp"
#include "support/process.hpp"

namespace krux::test {

// Every call throws std::runtime_error with the emulator's own words when it refuses. JSON arguments are texts.
class EmulatorProcess {
 public:
  std::uint16_t port() const { return port_; }
  std::string origin() const { return "http://127.0.0.1:" + std::to_string(port_); }
  Process& process() { return *process_; }

  void seed(const std::string& json) { control("POST", "seed", json); }
  // Answers with the document that the emulator gave, such as {"ok":true,"ts":"…"}.
  rapidjson::Document act(const std::string& json) { return control("POST", "act", json); }
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

  // Out of state():
  std::int64_t calls(const std::string& method);           // requests, refused ones too
  std::int64_t max_per_minute(const std::string& method);  // the most of them within any 60 s of its time
  std::int64_t hanging();
  std::int64_t pending_effects();

  rapidjson::Document control(const std::string& verb, const std::string& what, const std::string& json = "");

 protected:
  struct Start {
    std::string program;
    std::vector<std::string> tokens;
    bool driven_clock = true;
    std::int64_t start_ms = 0;
    std::vector<std::string> arguments;
  };
  explicit EmulatorProcess(const Start& start);

  // The number at a path of keys of state(); 0 where there is none.
  std::int64_t state_number(std::initializer_list<std::string> path);

 private:
  std::string name_;
  std::unique_ptr<Process> process_;
  std::uint16_t port_ = 0;
};

}  // namespace krux::test
