// A gateway without sockets, and requests for it made of a stranger's bytes. Internal to the fuzz targets.
#pragma once

#include <algorithm>
#include <future>
#include <optional>
#include <sstream>
#include <string>

#include "core/net/http_transport.hpp"
#include "core/sign_in/client_documents.hpp"
#include "core/sign_in/sign_in_store.hpp"
#include "core/state/sessions.hpp"
#include "core/storage/group_commit.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "fuzz.hpp"
#include "host/gateway/agent_gateway.hpp"
#include "support/scratch.hpp"

namespace krux::fuzz {

inline const std::string kKey(64, 'a');

/// One agent, whose calls are answered with their own arguments at once.
class EchoApi final : public AgentApi {
 public:
  EchoApi(GroupCommit& store, Clock& clock) : sessions_(store, clock) {}
  std::optional<Agent> authenticate(std::string_view key) override {
    return key == kKey ? std::optional(Agent{"agent_1", "alice"}) : std::nullopt;
  }
  SessionStore& sessions() override { return sessions_; }
  void invoke(Invocation call, std::function<void(InvocationResult)> done) override {
    parse_json(call.arguments_json, "The arguments", {64 << 20, 200});  // throws: they are no JSON
    done({true, call.arguments_json, {}});
  }
  void approval(const std::string&, const std::string&, std::int64_t,
                std::function<void(std::variant<std::string, Error>)> done) override {
    done(invalid_input("There is no such write of yours."));
  }
  std::string list_json(const std::string&, const CatalogueFilter&) override { return "[]"; }
  std::optional<std::string> describe_json(const std::string&, const std::string&) override { return std::nullopt; }
  std::vector<Offered> offered(const std::string&) override { return {}; }
  bool knows(const std::string& capability) override { return !capability.starts_with("no."); }
  bool takes_time(const std::string&) override { return false; }
  std::vector<std::string> services() override { return {"notes"}; }
  BodyToFile upload_target() override { return {}; }
  std::int64_t upload_room(const std::string&) override { return 0; }
  void add_upload(const UploadRequest&, std::function<void(std::variant<std::string, Error>)> done) override {
    done(invalid_input("There is no body."));
  }

 private:
  SessionStore sessions_;
};

struct GatewayTarget {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit commits{scratch.path() / "kruxos.db", kLedgerKind};
  SignInStore store{commits, clock};
  ClientDocuments documents{make_http_transport(nowhere()), clock};
  EchoApi api{commits, clock};
  AgentGateway gateway{api, clock, {{}, nullptr, "ifc", {&store, &documents}, {"https://app.example"}}};
  Admission admit;
  Handler handle;

  GatewayTarget() {
    gateway.set_origin("https://kruxos.example");
    admit = gateway.admission(true);
    handle = gateway.handler(true);
  }
  static TransportOptions nowhere() {
    TransportOptions options;
    options.resolve = [](const std::string&) { return Resolution{{}, "There is no network here."}; };
    return options;
  }

  /// What the HTTP server would do with a request: the body is for who was admitted.
  ServerResponse ask(ServerRequest request) {
    const auto verdict = admit(request);
    if (const auto* refused = std::get_if<Refused>(&verdict)) return refused->response;
    request.memory = std::get<Admitted>(verdict).memory;
    std::promise<ServerResponse> answer;
    auto answered = answer.get_future();
    handle(std::move(request), [&answer](ServerResponse response) { answer.set_value(std::move(response)); });
    require(answered.wait_for(std::chrono::seconds(30)) == std::future_status::ready, "a request is answered");
    return answered.get();
  }
};

/// "POST /path?query", lines of headers, an empty line, the body. Headers as the HTTP server lets them pass.
inline ServerRequest request_of(const std::string& text) {
  ServerRequest request;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const auto space = line.find(' ');
  request.method = line.substr(0, space);
  auto target = space == std::string::npos ? std::string() : line.substr(space + 1);
  if (!target.starts_with('/')) target.insert(0, "/");
  const auto mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark != std::string::npos) request.query = target.substr(mark + 1);
  const auto is_control = [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f'; };
  while (std::getline(lines, line) && !line.empty()) {
    const auto colon = line.find(": ");
    if (colon == std::string::npos || std::any_of(line.begin(), line.end(), is_control)) continue;
    auto name = line.substr(0, colon);
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    request.headers.emplace_back(std::move(name), line.substr(colon + 2));
  }
  request.body.assign(std::istreambuf_iterator<char>(lines), {});
  request.peer.address = "192.0.2.7";
  return request;
}

inline bool one_line(std::string_view value) {
  return value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

}  // namespace krux::fuzz
