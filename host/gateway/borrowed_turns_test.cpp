// Reads that are answered by the thread that received them: a gateway on real sockets, real workers, an adapter that
// the test scripts.
#include <condition_variable>
#include <mutex>
#include <optional>

#include "core/capability/handler_test_support.hpp"
#include "host/gateway/agent_gateway.hpp"
#include "host/http/http_server.hpp"
#include "host/http/raw_client.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using namespace handler_test;

namespace {

/// The agent of a key of 64 equal letters is "agent_" and that letter.
class Api final : public AgentApi {
 public:
  Api(CapabilityHandler& handler, SessionStore& sessions) : handler_(handler), sessions_(sessions) {}
  std::optional<Agent> authenticate(std::string_view key) override {
    return Agent{"agent_" + std::string(1, key[0]), "tester"};
  }
  void in_turn(const std::string& agent_id, std::function<void()> work, std::function<void(Error)> refused,
               RunsOn on) override {
    handler_.in_turn(agent_id, std::move(work), std::move(refused), on);
  }
  void invoke(Invocation invocation, std::function<void(InvocationResult)> done) override {
    handler_.invoke(std::move(invocation), std::move(done));
  }
  SessionStore& sessions() override { return sessions_; }
  void approval(const std::string& agent_id, const std::string& approval_id, std::int64_t wait_ms,
                std::function<void(std::variant<std::string, Error>)> done) override {
    handler_.approval(agent_id, approval_id, wait_ms, std::move(done));
  }
  std::string list_json(const std::string&, const CatalogueFilter&) override { return "[]"; }
  std::optional<std::string> describe_json(const std::string&, const std::string&) override { return std::nullopt; }
  std::vector<Offered> offered(const std::string&) override { return {}; }
  bool takes_time(const std::string&) override { return false; }
  bool knows(const std::string&) override { return true; }
  std::vector<std::string> services() override { return {}; }
  BodyToFile upload_target() override { return {}; }
  std::int64_t upload_room(const std::string&) override { return 0; }
  void add_upload(const UploadRequest&, std::function<void(std::variant<std::string, Error>)>) override {}

 private:
  CapabilityHandler& handler_;
  SessionStore& sessions_;
};

struct Wellbeing final : HealthSource {
  krux::Health health() override { return {"ok", true, R"({"status":"ok"})"}; }
};

std::string call_text(const std::string& capability, const std::string& arguments = "{}") {
  return R"({"jsonrpc":"2.0","id":1,"method":"capabilities.invoke","params":{"capability":")" + capability +
         R"(","arguments":)" + arguments + "}}";
}

CallRunner::Options workers() {
  CallRunner::Options options;
  options.grace_ms = 0;
  return options;
}

/// One loop for all agents and the health page.
struct Served {
  Host host{{}, workers()};
  Api api{host.handler, host.sessions};
  AgentGateway gateway{api, host.clock};
  Wellbeing health_source;
  std::optional<HttpServer> server;
  std::uint16_t port = 0, health_port = 0;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<bool> lent;  ///< of each call of the adapter: whether a lent thread made it
  int hanging = 0;
  bool open = true, only_fetches_hang = false;

  explicit Served(bool isolated = false) {
    host.connect("N1", {"read", "write"}, isolated);
    host.adapter->on_read = [this](auto&, std::string_view capability, auto) { return asked(capability, "{}"); };
    host.adapter->on_resolve = [this](auto&, std::string_view capability, std::string_view params) {
      return asked(capability, params);
    };
    server.emplace(1, HttpServer::Begin::kAtOnce, &host.clock, HttpServer::Handlers::kTakeTime);
    port = server->listen_tcp("127.0.0.1", 0, gateway.handler(true), {}, std::nullopt, gateway.admission(true)).port;
    health_port = server->listen_tcp("127.0.0.1", 0, health_handler(health_source)).port;
  }
  ~Served() {
    let_go();
    while (host.runner.lost() > 0) std::this_thread::yield();
    server.reset();
  }

  /// The adapter, at work; hangs while the door is closed.
  Text asked(std::string_view capability, std::string_view answer) {
    std::unique_lock lock(mutex);
    lent.push_back(HttpServer::thread_is_lent());
    if (only_fetches_hang && capability != "notes.fetch") return std::string(answer);
    if (!open) ++hanging;
    changed.notify_all();
    changed.wait(lock, [&] { return open; });
    return std::string(answer);
  }
  void hang() {
    const std::lock_guard lock(mutex);
    open = false;
  }
  void let_go() {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
  void wait_for_hanging(int count) {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return hanging >= count; }));
  }
  std::vector<bool> lent_so_far() {
    const std::lock_guard lock(mutex);
    return std::exchange(lent, {});
  }
};

std::string request_of(char agent, const std::string& body) {
  return http_post("/rpc", body, "Authorization: Bearer " + std::string(64, agent) + "\r\n");
}

using Lent = std::vector<bool>;

}  // namespace

TEST_CASE("borrowed turns: a read of the replica is answered by the thread that received it") {
  Served served;
  RawClient client(served.port);
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.ask(request_of('a', call_text("notes.search")));
    CHECK_THAT(answer.body, Catch::Contains(R"("success":true)"));
  }
  CHECK(served.lent_so_far() == Lent{true, true, true});
  CHECK(served.host.runner.figures(Lane::kLocal).begun == 6);  // a message and its call each
}

TEST_CASE("borrowed turns: what may take longer than a read of the replica is for workers") {
  Served served;
  RawClient client(served.port);
  std::string body;
  SECTION("a read that asks the service") {
    body = call_text("notes.fetch");
  }
  SECTION("a write's names") {
    body = call_text("notes.add", R"({"title":"a"})");
  }
  SECTION("several calls in a message") {
    body = "\n[" + call_text("notes.search") + "]";
  }
  SECTION("a long message") {
    body = call_text("notes.search", R"({"query":")" + std::string(5000, 'q') + "\"}");
  }
  CHECK_THAT(client.ask(request_of('a', body)).body, Catch::Contains(R"("success":true)"));
  CHECK(served.lent_so_far() == Lent{false});
}

TEST_CASE("borrowed turns: an adapter in a process of its own is asked by workers") {
  Served served(true);
  CHECK(RawClient(served.port).ask(request_of('a', call_text("notes.search"))).status == 200);
  CHECK(served.lent_so_far() == Lent{false});
}

TEST_CASE("borrowed turns: an agent's read is answered by the thread that received it beside another call of his") {
  Served served;
  RawClient first(served.port), second(served.port);
  served.only_fetches_hang = true;
  served.hang();
  first.send(request_of('a', call_text("notes.fetch")));
  served.wait_for_hanging(1);
  CHECK(served.lent_so_far() == Lent{false});
  // The thread that took the first one apart comes back a moment later.
  bool lent = false;
  for (int tries = 0; tries < 1000 && !lent; ++tries) {
    served.host.clock.advance(60);
    CHECK(second.ask(request_of('a', call_text("notes.search"))).status == 200);
    lent = served.lent_so_far().back();
  }
  CHECK(lent);
  served.let_go();
  CHECK(first.receive().status == 200);
}

TEST_CASE("borrowed turns: reads that hang stop neither health, nor others, nor new connections, and end in time") {
  constexpr int kHanging = 4;
  Served served;
  RawClient other(served.port), health(served.health_port);
  const auto others_go_on = [&] {
    CHECK(health.ask(http_get("/health")).status == 200);
    CHECK(RawClient(served.health_port).ask(http_get("/health")).status == 200);
    CHECK_THAT(other.ask(request_of('e', call_text("proxy.list_writes"))).body, Catch::Contains(R"("success":true)"));
    CHECK(RawClient(served.port).ask(request_of('f', call_text("proxy.list_writes"))).status == 200);
  };
  others_go_on();
  served.hang();
  std::vector<RawClient> hanging;
  int lent = 0;
  for (int i = 0; i < kHanging; ++i) {
    served.host.clock.advance(60);
    hanging.emplace_back(served.port).send(request_of(static_cast<char>('a' + i), call_text("notes.search")));
    served.wait_for_hanging(i + 1);
    lent += served.lent_so_far().back() ? 1 : 0;
    others_go_on();  // which takes long enough, at the first, for the loop to be given another thread
  }
  CHECK(lent >= 1);
  CHECK(served.host.runner.lost() == 0);
  served.host.clock.advance(10'000);
  for (auto& client : hanging) {
    const auto answer = client.receive();
    CHECK(answer.status == 200);
    CHECK_THAT(answer.body, Catch::Contains(R"("type":"Timeout")"));
  }
  CHECK(served.host.runner.lost() == kHanging);
  CHECK(served.host.health->quarantined());
  CHECK(served.host.health->abandoned_total() == kHanging);
  others_go_on();
  served.let_go();
  while (served.host.runner.lost() > 0) std::this_thread::yield();
  served.host.health->release();
  // The late answers went nowhere: these are the next ones, each on its connection.
  for (int i = 0; i < kHanging; ++i) {
    const auto body = hanging[static_cast<std::size_t>(i)]
                          .ask(request_of(static_cast<char>('a' + i), call_text("proxy.list_writes")))
                          .body;
    CHECK_THAT(body, Catch::Contains(R"("writes":[)"));
  }
  others_go_on();
}

}  // namespace KRUXOS_TEST_FILE
