// The whole chain for tests: the host (kruxosd-test), a service of our own, the operator's command and an agent, each a
// process or a socket of its own. Time stands still in both until a test moves it. host_fixture.hpp has it with Slack,
// gmail_rig.hpp with Gmail.
#pragma once

#include <rapidjson/document.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/emulator_process.hpp"
#include "support/oauth_browser.hpp"
#include "support/process.hpp"
#include "support/scratch.hpp"

namespace krux::test {

using Json = rapidjson::Document;

Json parse(const std::string& text);  // throws with the text when it is no JSON
// Members by RFC 6901 pointer ("/data/messages/0/text"). Absent: "", 0, false, nothing.
std::string text_at(const rapidjson::Value& document, const std::string& pointer);
std::int64_t number_at(const rapidjson::Value& document, const std::string& pointer);
bool bool_at(const rapidjson::Value& document, const std::string& pointer);
const rapidjson::Value* find_at(const rapidjson::Value& document, const std::string& pointer);
std::size_t size_at(const rapidjson::Value& document, const std::string& pointer);  // of an array
std::string text_of(const rapidjson::Value& document);                              // as JSON, for INFO()

// Polls until it is true; false when that takes longer.
bool eventually(const std::function<bool()>& condition, milliseconds timeout = milliseconds(15000));

struct RigOptions {
  std::string scopes;                      // of a pasted token, "a,b"; empty: all
  std::string service;                     // further lines of services.<name>, each with a newline
  std::string config;                      // further lines of the configuration
  std::map<std::string, std::string> env;  // of the host
  std::vector<std::string> emulator;       // further arguments
  std::vector<std::string> tokens;         // of the service besides the rig's own, as its --token takes them
  bool driven = true;                      // time of host and service
  bool seed = true;                        // with what the rig of the service names
  std::vector<std::string> launcher;       // stands before the host's command, such as prlimit and its options
};

// A test that calls this runs twice: with the adapter in the host's process, and in one of its own.
RigOptions either_isolation(RigOptions options = {});
inline constexpr const char* kInItsOwnProcess = "    isolation: process\n";  // for RigOptions::service

// What a rig is told of its service.
struct Served {
  std::string name;  // "slack"
  std::shared_ptr<EmulatorProcess> emulator;
  std::filesystem::path adapter, definition, contract_test;
  std::string settings;  // lines of services.<name>: where the emulator is
  std::string client_id, client_secret;
  std::vector<std::string> secrets;  // further ones, for check_no_secret()
};
inline constexpr std::int64_t kStartMs = 1'700'000'000'000;

// An agent's call. `data` or `error` is the result's.
struct Answer {
  Json document;   // the JSON-RPC answer, or null when none came
  int status = 0;  // HTTP; 0: the connection broke
  bool ok() const { return bool_at(document, "/result/success"); }
  std::string text(const std::string& pointer) const { return text_at(document, "/result/data" + pointer); }
  std::int64_t number(const std::string& pointer) const { return number_at(document, "/result/data" + pointer); }
  std::size_t size(const std::string& pointer) const { return size_at(document, "/result/data" + pointer); }
  std::string error() const { return text_at(document, "/result/error/type"); }
  std::string message() const { return text_at(document, "/result/error/message"); }
  std::string write_id() const { return text("/write_id"); }
};

// One `kruxos connect` that is under way.
class Connecting {
 public:
  explicit Connecting(std::unique_ptr<Process> command) : command_(std::move(command)) {}
  std::string address();  // what the browser is to open; throws when the command ends without saying one
  bool running() { return command_->running(); }
  Finished end(milliseconds timeout = milliseconds(30000));

 private:
  std::unique_ptr<Process> command_;
};

// Failures throw std::runtime_error with the host's last words.
class HostRig {
 public:
  HostRig(RigOptions options, Served served);
  virtual ~HostRig() = default;

  // --- the host
  void start(const std::string& fault = "");   // returns when it serves
  void launch(const std::string& fault = "");  // returns at once
  void await_ready();
  ExitStatus await_end(milliseconds timeout = milliseconds(15000));
  ExitStatus stop(milliseconds timeout = milliseconds(10000));  // SIGTERM
  void begin(const std::string& fault = "");                    // start, connect, first sync done, an agent with a key
  void set_launcher(std::vector<std::string> words) { options_.launcher = std::move(words); }  // from the next start on
  bool alive() { return host_ && host_->running(); }
  Process& host() { return *host_; }
  std::string log() const { return old_logs_ + (host_ ? host_->output(Stream::err) : ""); }  // of all runs

  // --- time
  std::int64_t now_ms() const { return now_ms_; }
  void settle();                  // until neither process has anything to do, but not for long
  void advance(std::int64_t ms);  // of both, and what follows from it
  // Moves time in steps until it is so; false when `limit_ms` of it have passed.
  bool pass_time(const std::function<bool()>& until, std::int64_t limit_ms = 600'000, std::int64_t step_ms = 5'000);

  // --- the operator
  Finished kruxos(const std::vector<std::string>& arguments, const std::string& in = "");
  // Its standard input stays open.
  std::unique_ptr<Process> launch_kruxos(const std::vector<std::string>& arguments,
                                         const std::map<std::string, std::string>& env = {});
  Json operate(std::vector<std::string> arguments, const std::string& in = "");  // --json; throws unless it went well
  HttpReply control(const std::string& method, const std::string& path, const std::string& body = "");
  Json write(const std::string& write_id);  // as the operator sees it
  std::string state(const std::string& write_id) { return text_at(write(write_id), "/write/state"); }
  bool told(const std::string& write_id);
  void resolve(const std::string& write_id, const std::string& decision);
  virtual void connect_account() = 0;  // as begin() does
  bool synced();
  std::string new_agent(const std::string& name);  // its key

  // --- the agent
  Answer invoke(const std::string& capability, const std::string& arguments = "{}", const std::string& more = "");
  Answer invoke_as(const std::string& key, const std::string& capability, const std::string& arguments = "{}",
                   const std::string& more = "");

  // --- a person at the page of consent
  Connecting connecting(std::vector<std::string> arguments = {});
  // The command, the browser and what the browser showed at the end, all the way.
  Finished connect_by(const Consent& consent = {}, const std::vector<std::string>& arguments = {});
  std::string last_page;  // of the browser
  Json facts() { return service().oauth(); }
  std::int64_t counted(const std::string& counter) { return number_at(facts(), "/oauth/counters/" + counter); }
  std::int64_t live_grants() { return number_at(facts(), "/oauth/live_grants"); }
  // Nothing that the provider issued, and no client secret, stands in the host's log, in what the command printed or in
  // any file below the data directory.
  void check_no_secret();

  // --- the service
  EmulatorProcess& service() { return *served_.emulator; }
  void check_contract();  // all requests so far, against the service's description when it is there

  std::filesystem::path path(const std::string& name) const { return scratch_.path() / name; }
  std::filesystem::path data() const { return path("data"); }
  std::uint16_t gateway_port() const { return gateway_port_; }
  std::uint16_t health_port() const { return health_port_; }
  std::string config_text;  // what launch() writes to the configuration file
  std::string key;          // the agent's

 protected:
  const Served& served() const { return served_; }

 private:
  void prepare();
  Command host_command(const std::string& fault) const;
  Command kruxos_command(const std::vector<std::string>& arguments) const;

  RigOptions options_;
  Served served_;
  support::Scratch scratch_;
  std::unique_ptr<Process> host_;
  std::string old_logs_, printed_;
  std::int64_t now_ms_ = kStartMs, boot_ms_ = 50'000'000;
  std::uint16_t gateway_port_ = 0, health_port_ = 0;
};

}  // namespace krux::test
