// A gateway on a real socket before an API that the test scripts.
#pragma once

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>

#include "core/metrics/agent_meters.hpp"
#include "core/state/sessions.hpp"
#include "core/storage/group_commit.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "host/gateway/agent_gateway.hpp"
#include "host/http/http_server.hpp"
#include "host/http/raw_client.hpp"
#include "host/http/raw_web_socket.hpp"
#include "support/scratch.hpp"

namespace gateway_test {

using namespace krux;
using namespace krux::test;

inline const std::string kKey(64, 'a'), kOtherKey(64, 'b'), kWrongKey(64, 'c');

/// Two agents; "wait" calls are held until they are released, "big" ones have a long answer, others are answered with
/// their own arguments.
class FakeApi final : public AgentApi {
 public:
  std::optional<Agent> authenticate(std::string_view key) override {
    if (key == kKey && !revoked) return Agent{"agent_1", "alice"};
    if (key == kOtherKey) return Agent{"agent_2", "bob"};
    return std::nullopt;
  }
  void in_turn(const std::string& agent_id, std::function<void()> work, std::function<void(Error)> refused,
               RunsOn on) override {
    ++turns_asked;
    if (on == RunsOn::kCaller) ++turns_on_the_receiver;
    if (refusal.type()) return refused(refusal);
    if (agent_id != holds_turns_of) return work();
    const std::lock_guard lock(mutex_);
    turns_.push_back(std::move(work));
    changed_.notify_all();
  }
  /// Waits for a message of the agent whose turns are held, and gives it its turn.
  void give_turn() {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      REQUIRE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return !turns_.empty(); }));
      work = std::move(turns_.back());
      turns_.pop_back();
    }
    work();
  }
  void invoke(Invocation call, std::function<void(InvocationResult)> done) override {
    {
      const std::lock_guard lock(mutex_);
      last = call;
      ++invoked;
    }
    if (scripted) return done(scripted(call));
    const std::lock_guard lock(mutex_);
    if (call.capability == "wait" || call.capability == holds)
      held_.push_back(std::move(done));
    else if (call.capability == "big")
      done({true, "\"" + std::string(big_bytes, 'b') + "\"", {}});
    else if (call.capability == "fail")
      done({false, {}, R"({"type":"NotConnected"})"});
    else
      done({true, call.arguments_json, {}});
    changed_.notify_all();
  }
  std::optional<Error> why_not_ask(const Invocation& call, const Questions& questions) override {
    CHECK(call.agent_id == "agent_1");
    CHECK_FALSE(questions.account.empty());
    return asks_no_more;
  }
  std::optional<Error> why_not_hear_state(const std::string&) override { return no_state; }
  std::optional<Agent> active(const std::string& agent_id) override {
    if (agent_id == "agent_1" && !revoked) return Agent{"agent_1", "alice"};
    return std::nullopt;
  }
  SessionStore& sessions() override { return *kept_sessions; }
  /// "w_pending" is answered with its own id and the time to wait.
  void approval(const std::string& agent_id, const std::string& approval_id, std::int64_t wait_ms,
                std::function<void(std::variant<std::string, Error>)> done) override {
    if (approval_id == "w_pending")
      return done("{\"agent\":" + json_string(agent_id) + ",\"wait_ms\":" + std::to_string(wait_ms) + "}");
    if (approval_id != "w_held") return done(invalid_input("There is no such write of yours."));
    const std::lock_guard lock(mutex_);
    held_.push_back([done = std::move(done)](const InvocationResult& result) { done(result.data_json); });
    changed_.notify_all();
  }
  /// What a test says, of alice's writes.
  void asked_approval(const std::string& agent_id, const std::string& write_id,
                      std::function<void(AskedOutcome)> done) override {
    std::optional<AskedApproval> what;
    {
      const std::lock_guard lock(mutex_);
      if (agent_id == "agent_1" && asked && asked->write_id == write_id) what = asked;
    }
    done(std::move(what));
  }
  void asks_about(std::optional<AskedApproval> what) {
    const std::lock_guard lock(mutex_);
    asked = std::move(what);
  }
  std::string list_json(const std::string&, const CatalogueFilter& filter) override {
    return "[" + json_string(filter.category + "|" + filter.tag + "|" + filter.name_contains) + "]";
  }
  std::optional<std::string> describe_json(const std::string&, const std::string& name) override {
    return name == "x.read" ? std::optional<std::string>(R"({"name":"x.read"})") : std::nullopt;
  }

  std::vector<Offered> offered(const std::string&) override { return offers; }
  bool knows(const std::string& capability) override { return !capability.starts_with("no."); }
  bool takes_time(const std::string& capability) override { return capability == "wait"; }
  TakesLong takes_long(const std::string& capability) override {
    if (capability == "wait") return long_wait;
    return TakesLong::kNo;
  }
  std::vector<std::string> services() override { return {"notes", "tasks"}; }

  /// Of one record; the last one that was asked for is `watched_record`.
  std::shared_ptr<void> watch_record(const std::string& service, const RecordAddress& record,
                                     std::function<void()> changed) override {
    const std::lock_guard lock(mutex_);
    watched_record = service + " " + record.collection + " " + record.id;
    record_changed = std::move(changed);
    ++watches;
    return {nullptr, [this](void*) { --watches; }};
  }
  std::vector<InputDefinition> header_inputs(const std::string& capability) override {
    return capability == "notes.search" ? inputs_in_headers : std::vector<InputDefinition>();
  }
  void values(const ValuesWanted& what, std::function<void(std::variant<Completion, Error>)> done) override {
    wanted = what;
    done(found);
  }

  BodyToFile upload_target() override { return {scratch.path() / std::to_string(++targets), most_bytes, 20'000}; }
  std::int64_t upload_room(const std::string&) override { return room; }
  void add_upload(const UploadRequest& upload, std::function<void(std::variant<std::string, Error>)> done) override {
    if (upload.filename == "bad") return done(invalid_input("No such name."));
    if (!upload.file) return done(invalid_input("There is no body."));
    std::ifstream file(upload.file->file);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    done("{\"of\":" + json_string(upload.agent_id) + ",\"name\":" + json_string(upload.filename) +
         ",\"type\":" + json_string(upload.mime_type) + ",\"sha256\":" + json_string(sha256_hex(bytes)) + "}");
  }

  std::atomic<bool> revoked{false};  ///< kKey

  // Set while no request is under way.
  TakesLong long_wait = TakesLong::kMay;
  std::optional<Error> asks_no_more, no_state;
  Error refusal{{}, ""};
  std::string holds_turns_of;
  std::string holds;  ///< a capability of which calls are held, besides "wait"

  support::Scratch scratch;
  DrivenClock clock;
  support::Scratch kept;
  GroupCommit store{kept.path() / "kruxos.db", kLedgerKind};
  std::optional<SessionStore> kept_sessions{std::in_place, store, clock};  ///< made anew: as after a restart
  std::atomic<int> targets{0};
  std::uint64_t most_bytes = 4 << 20;
  std::int64_t room = 100 << 20;

  void wait_for_held(std::size_t count) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return held_.size() >= count; }));
  }
  void release() { release({true, answer_of_held, {}}); }
  void release(const InvocationResult& result) {
    std::vector<std::function<void(InvocationResult)>> held;
    {
      const std::lock_guard lock(mutex_);
      held.swap(held_);
    }
    for (const auto& done : held) done(result);
  }

  std::string answer_of_held = "{}";
  std::function<InvocationResult(const Invocation&)> scripted;  ///< instead of the above; set as `offers`
  std::vector<Offered> offers;                                  ///< set while no request is under way
  std::vector<InputDefinition> inputs_in_headers;               ///< the same, of notes.search
  std::string watched_record;
  std::function<void()> record_changed;
  std::atomic<int> watches{0};
  std::variant<Completion, Error> found = Completion();
  ValuesWanted wanted;
  std::size_t big_bytes = 1 << 20;  ///< of the answer to "big"
  Invocation last;
  std::atomic<int> invoked{0};
  std::atomic<int> turns_asked{0}, turns_on_the_receiver{0};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<AskedApproval> asked;
  std::vector<std::function<void(InvocationResult)>> held_;
  std::vector<std::function<void()>> turns_;
};

struct Fixture {
  FakeApi api;
  DrivenClock& clock = api.clock;
  MetricRegistry metrics;
  AgentMeters meters{metrics};
  AgentGateway gateway;
  DrivenClock server_clock;
  HttpServer server;
  std::uint16_t port;

  enum class Time { kReal, kDriven };  ///< of connections
  explicit Fixture(GatewayLimits limits = {}, HttpLimits http = {}, Time time = Time::kReal)
      : gateway(api, clock, {limits, &meters, "ifc", {}}),
        server(2, HttpServer::Begin::kAtOnce, time == Time::kDriven ? &server_clock : nullptr,
               HttpServer::Handlers::kTakeTime) {
    port = server.listen_tcp("127.0.0.1", 0, gateway.handler(true), http, std::nullopt, gateway.admission(true)).port;
  }
  RawAnswer post(std::string_view body, const std::string& key = kKey, const std::string& more = {}) {
    RawClient client(port);
    const auto authorization = key.empty() ? std::string() : "Authorization: Bearer " + key + "\r\n";
    return client.ask(http_post("/rpc", body, authorization + more));
  }
  RawWebSocket socket(std::string_view path = "/rpc", const std::string& key = kKey, const std::string& more = {}) {
    return RawWebSocket(port, path, (key.empty() ? "" : "Authorization: Bearer " + key + "\r\n") + more);
  }
  /// The answer to one call of that method, as text.
  std::string call(const std::string& method, const std::string& params, const std::string& key = kKey) {
    return post(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}", key).body;
  }
};

}  // namespace gateway_test
