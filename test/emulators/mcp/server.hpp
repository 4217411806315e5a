// An emulated MCP server: what it answers to messages, whichever way they come.
#pragma once

#include <rapidjson/document.h>

#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulators/mcp/script.hpp"
#include "emulators/mcp/tools.hpp"

namespace krux::test::mcp_server {

struct Settings {
  std::string revision = "2025-11-25";  // or 2026-07-28, which knows no sessions
  std::string speaks;        // the version that initialize answers, whatever it is asked; empty: the revision
  std::string journal, log;  // files; empty: none
  Script script;
};

// What becomes of one message.
struct Outcome {
  std::vector<std::string> before;    // messages that come before the answer
  std::optional<std::string> answer;  // empty: there is none, now or ever
  std::optional<Fault> fault;         // what the way itself has to do
  std::optional<int> code;            // of the error that the answer is
  bool begins_session = false;        // it answers initialize
  bool is_request = false;
};
using Reply = std::function<void(Outcome)>;

// One thread. Sessions are the way's own.
class Server {
 public:
  explicit Server(Settings settings);

  bool is_stateless() const { return settings_.revision == "2026-07-28"; }
  // `initialized`: its session's. `reply` may be called later, or never.
  void take(std::string_view message, bool& initialized, const Reply& reply);
  void replace(Script script);
  // Requests so far, by method.
  const std::map<std::string, int>& requests() const { return requests_; }

 private:
  struct Held {
    std::string id_json;
    std::function<void()> go_on;
  };
  struct Failure {
    int code;
    std::string message;
  };
  using Result = std::optional<Failure>;  // nothing: what stands in the result was written

  void note(const rapidjson::Value& message);
  void release();
  Result answer_to(const std::string& method, const rapidjson::Value& params, bool initialized, emulator::JsonOut& out);
  Result why_refused(const std::string& method, const rapidjson::Value& params, bool initialized) const;
  Result call_tool(const rapidjson::Value& params, emulator::JsonOut& out);
  void initialize(const rapidjson::Value& params, emulator::JsonOut& out) const;
  void put_server(emulator::JsonOut& out) const;

  Settings settings_;
  Tools tools_;
  std::map<std::string, int> requests_;
  std::list<Held> held_;
};

}  // namespace krux::test::mcp_server
