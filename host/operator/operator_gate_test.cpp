#include "host/operator/operator_gate.hpp"

#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <vector>

#include "core/state/agents.hpp"
#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "host/http/http_server.hpp"
#include "host/http/raw_client.hpp"
#include "host/operator/control_server.hpp"
#include "host/operator/fake_operator.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

constexpr PassphraseCost kCheap{1, 8192};
const std::string kPassphrase = "a good passphrase";

/// What lets things happen, or gives access, and what does not.
const std::vector<std::string> kNeedOperator{
    http_post("/v1/agents", R"({"name":"mine"})"),
    http_post("/v1/agents/al/rotate", ""),
    http_post("/v1/agents/al/resume", ""),
    http_post("/v1/resume", ""),
    http_post("/v1/sign-in/BCDF-GHJK/accept", R"({"agent":"al"})"),
    http_post("/v1/connections/x", R"({"token":"t"})"),
    http_post("/v1/connections/x/oauth", "{}"),
    http_post("/v1/connections/x/oauth/1/callback", R"({"address":"a"})"),
    http_post("/v1/writes/w_1/accept", R"({"content_hash":"abc"})"),
    http_post("/v1/writes/w_1/reject", "{}"),
    http_post("/v1/writes/w_1/edit", R"({"content_hash":"abc","arguments":{"text":"x"}})"),
    http_post("/v1/writes/w_1/rollback", "{}"),
    http_post("/v1/writes/w_1/resolve", R"({"decision":"resend"})"),
    http_post("/v1/decisions", R"({"decision":"accept","writes":[{"write_id":"w_1","content_hash":"a"}]})"),
    http_post("/v1/vault/passphrase", R"({"passphrase":"a","new_passphrase":"b"})"),
    http_post("/v1/plugins/x/release", ""),
    http_post("/v1/alerts/1/acknowledge", ""),
    http_post("/v1/audit/rotate-key", ""),
    http_post("/v1/webhook/test", ""),
    http_post("/v1/operators/bob", R"({"new_passphrase":"bob has one too"})"),
    http_post("/v1/operators/bob/remove", ""),
    http_post("/v1/writes/cu_1/cancel", "")};
constexpr std::size_t kOfOperators = 2;  ///< of these, what the gate itself does
const std::vector<std::string> kOpen{http_get("/v1/status"),
                                     http_get("/v1/writes/w_1"),
                                     http_post("/v1/writes/w_1/cancel", ""),
                                     http_post("/v1/agents/al/revoke", ""),
                                     http_post("/v1/agents/al/pause", ""),
                                     http_post("/v1/pause", ""),
                                     http_get("/v1/webhook"),
                                     http_post("/v1/sign-in/grants/g_1/end", "")};

struct GateFixture {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};
  AlertStore alerts{store, clock};
  OperatorSecret secret{store, clock, kCheap};
  OperatorGate gate;
  FakeOperator api;
  ControlServer control;
  HttpServer server;
  std::filesystem::path path = scratch.path() / "control.sock";

  explicit GateFixture(std::optional<bool> shared = std::nullopt)
      : gate(secret, alerts, clock, {shared, {}, ::geteuid()}), control(api, {4, 64, ::geteuid(), &gate}) {
    server.listen_unix(path, control.handler());
  }
  ~GateFixture() { server.stop(0); }
  RawAnswer ask(const std::string& bytes) { return RawClient(path).ask(bytes); }
  RawAnswer set(const std::string& body) { return ask(http_post("/v1/operator/passphrase", body)); }
  void set_one() { REQUIRE(set(R"({"new_passphrase":")" + kPassphrase + "\"}").status == 200); }
  std::string grant() {
    const auto answer = ask(http_post("/v1/operator/grant", R"({"passphrase":")" + kPassphrase + "\"}"));
    REQUIRE(answer.status == 200);
    return std::string(find_string(parse_json(answer.body, "it"), "grant").value());
  }
  std::vector<std::string> open_alerts() {
    std::vector<std::string> kinds;
    for (const auto& alert : alerts.list(true)) kinds.push_back(alert.kind);
    return kinds;
  }
};

std::string with_grant(std::string request, const std::string& grant, const std::string& name = "Kruxos-Grant") {
  return request.insert(request.find("\r\n") + 2, name + ": " + grant + "\r\n");
}

/// The status that a process of the same user gets, which is another one.
int status_in_child(const std::filesystem::path& path, const std::string& bytes) {
  const auto child = ::fork();
  if (child == 0) {
    const auto status = RawClient(path).ask(bytes).status;
    ::_exit(status - 200);
  }
  int ended = 0;
  ::waitpid(child, &ended, 0);
  return WIFEXITED(ended) ? WEXITSTATUS(ended) + 200 : -1;
}

}  // namespace

TEST_CASE("a new host's decisions wait for a passphrase of the operator, and stopping does not") {
  GateFixture f;
  for (const auto& request : kNeedOperator) {
    INFO(request);
    const auto answer = f.ask(request);
    CHECK(answer.status == 409);
    CHECK_THAT(answer.body,
               Catch::Contains("kruxos operator set-passphrase") && Catch::Contains(R"("needs":"passphrase_set")"));
    CHECK(f.api.asked().empty());
  }
  for (const auto& request : kOpen) CHECK(f.ask(request).status == 200);
  CHECK(f.ask(http_post("/v1/operator/grant", R"({"passphrase":"whatever"})")).status == 409);
  CHECK(f.set(R"({"new_passphrase":"short"})").status == 400);
  CHECK(f.set("{}").status == 400);
  f.set_one();
  f.api.asked();
  for (const auto& request : kNeedOperator) {
    const auto answer = f.ask(request);
    CHECK(answer.status == 401);
    CHECK_THAT(answer.body, Catch::Contains(R"("needs":"grant")"));
  }
  CHECK(f.api.asked().empty());
  const auto grant = f.grant();
  for (const auto& request : kNeedOperator) CHECK(f.ask(with_grant(request, grant)).status == 200);
  CHECK(f.api.asked().size() == kNeedOperator.size() - kOfOperators);
}

TEST_CASE("a process of the operator's user with all that it can read decides nothing") {
  GateFixture f;
  f.set_one();
  AgentStore agents(f.store, f.clock);
  const auto key = agents.create("assistant").key;
  const auto grant = f.grant();
  const auto& accept = kNeedOperator[6];
  std::string verifier;
  f.store.run([&](SQLite::Database& db) {
    Statement row(db.getHandle(), "SELECT verifier FROM operators");
    REQUIRE(row.step());
    verifier = row.text(0);
  });
  CHECK(f.ask(with_grant(accept, grant)).status == 200);
  f.api.asked();
  // It got hold of the grant even, which is another process's.
  for (const auto& shown : {grant, key, verifier, std::string(64, '0'), std::string()}) {
    INFO(shown);
    CHECK(status_in_child(f.path, with_grant(accept, shown)) == 401);
    CHECK(status_in_child(f.path, with_grant(accept, "Bearer " + shown, "Authorization")) == 401);
  }
  CHECK(status_in_child(f.path, http_post("/v1/operator/passphrase", R"({"new_passphrase":"the agent's own"})")) ==
        401);
  CHECK(status_in_child(f.path, http_get("/v1/status")) == 200);
  CHECK(f.api.asked() == std::vector<std::string>{"status"});
  CHECK(f.ask(with_grant(accept, grant)).status == 200);
}

TEST_CASE("a grant ends when it is not used, after half a day, and with another passphrase") {
  GateFixture f;
  f.set_one();
  const auto& accept = kNeedOperator[6];
  const auto status = [&](const std::string& grant) { return f.ask(with_grant(accept, grant)).status; };
  auto grant = f.grant();
  f.clock.advance(599'999);
  CHECK(status(grant) == 200);
  f.clock.advance(600'000);
  CHECK(status(grant) == 401);
  grant = f.grant();
  for (int i = 0; i < 79; ++i) {  // 11 h 51 min
    f.clock.advance(540'000);
    REQUIRE(status(grant) == 200);
  }
  f.clock.advance(540'000);
  CHECK(status(grant) == 401);
  grant = f.grant();
  CHECK(f.set(R"({"passphrase":"a good passphrase","new_passphrase":"another passphrase"})").status == 200);
  CHECK(status(grant) == 401);
  // As many as a person has terminals.
  const auto first = f.ask(http_post("/v1/operator/grant", R"({"passphrase":"another passphrase"})"));
  const auto oldest = std::string(find_string(parse_json(first.body, "it"), "grant").value());
  f.clock.advance(1);
  for (int i = 0; i < 64; ++i)
    CHECK(f.ask(http_post("/v1/operator/grant", R"({"passphrase":"another passphrase"})")).status == 200);
  CHECK(status(oldest) == 401);
}

TEST_CASE("wrong passphrases on the socket wait, and the operator hears of them") {
  GateFixture f;
  f.set_one();
  const auto guess = [&] { return f.ask(http_post("/v1/operator/grant", R"({"passphrase":"a wrong guess"})")).status; };
  CHECK(guess() == 401);
  CHECK(guess() == 429);
  CHECK(f.open_alerts().empty());
  for (int i = 0; i < 3; ++i) {
    f.clock.advance(60'000);
    CHECK(guess() == 401);
  }
  f.store.run([](SQLite::Database&) {});
  CHECK(f.open_alerts() == std::vector<std::string>{"operator_passphrase_wrong"});
  CHECK_THAT(f.ask(http_get("/v1/operator")).body, Catch::Contains(R"("next_try_in_ms":8000)"));
  f.clock.advance(60'000);
  CHECK(f.set(R"({"passphrase":"a good passphrase","new_passphrase":"another passphrase"})").status == 200);
  f.store.run([](SQLite::Database&) {});
  CHECK(f.open_alerts().empty());
}

TEST_CASE("where no agent shares the operator's user, the socket is enough") {
  GateFixture f(false);
  const auto is_of_operators = [](const std::string& request) {
    return request.find("/v1/operators/") != std::string::npos;
  };
  const auto status_of_none = [](const std::string& request) {
    return request.find("/remove") == std::string::npos ? 409 : 404;
  };
  for (const auto& request : kNeedOperator)
    CHECK(f.ask(request).status == (is_of_operators(request) ? status_of_none(request) : 200));
  f.set_one();
  // But for who may decide: that one who is known by name says.
  for (const auto& request : kNeedOperator) CHECK(f.ask(request).status == (is_of_operators(request) ? 401 : 200));
  CHECK_THAT(f.ask(http_get("/v1/operator")).body,
             Catch::Contains(R"("needs_passphrase":false)") && Catch::Contains(R"("agents_share_user":false)"));
}

TEST_CASE("a host of before asks for a passphrase as soon as one is set, and says so until then") {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store(scratch.path() / "kruxos.db", kLedgerKind);
  store.run([](SQLite::Database& db) { db.exec("UPDATE operator_secret SET of_before = 1"); });
  AlertStore alerts(store, clock);
  OperatorSecret secret(store, clock, kCheap);
  OperatorGate gate(secret, alerts, clock, {});
  store.run([](SQLite::Database&) {});
  REQUIRE(alerts.list(true).size() == 1);
  CHECK_THAT(alerts.list(true)[0].message, Catch::Contains("kruxos operator set-passphrase"));
  ServerRequest request;
  request.peer = {"", true, ::geteuid(), ::getpid()};
  CHECK_FALSE(gate.needs_passphrase());
  gate.must_be_operator(request, gate.asking(request));
  // It may be told to ask from the start.
  CHECK(OperatorGate(secret, alerts, clock, {true, {}, 1000}).needs_passphrase());
  gate.set_passphrase(request, Secret(), Secret(kPassphrase), "", "operator:me");
  CHECK(gate.needs_passphrase());
  CHECK_THROWS_AS(gate.must_be_operator(request, gate.asking(request)), Error);
  store.run([](SQLite::Database&) {});
  CHECK(alerts.list(true).empty());
}

TEST_CASE("root decides without a passphrase unless the host is root's itself, and gives a forgotten one anew") {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store(scratch.path() / "kruxos.db", kLedgerKind);
  AlertStore alerts(store, clock);
  OperatorSecret secret(store, clock, kCheap);
  const bool own = GENERATE(false, true);
  OperatorGate gate(secret, alerts, clock, {std::nullopt, {}, own ? 0U : 1000U});
  ServerRequest request;
  request.peer = {"", true, 0, 4711};
  gate.set_passphrase(request, Secret(), Secret(kPassphrase), "", "operator:root");
  if (own) {
    CHECK_THROWS_AS(gate.must_be_operator(request, gate.asking(request)), Error);
    CHECK_THROWS_AS(gate.set_passphrase(request, Secret(), Secret("another one"), "", "operator:root"), Error);
  } else {
    gate.must_be_operator(request, gate.asking(request));
    gate.set_passphrase(request, Secret(), Secret("another one"), "", "operator:root");
    secret.check(Secret("another one"), OperatorSecret::Place::kSocket);
  }
  request.peer.pid = 0;
  CHECK_THROWS_WITH(gate.give_grant(request, Secret(kPassphrase), ""), Catch::Contains("which process"));
}

TEST_CASE("each operator has a passphrase of his own, and what is decided with his grant is his") {
  GateFixture f;
  f.set_one();
  const auto anns = f.grant();
  const auto grant_of = [&](const std::string& name, const std::string& passphrase) {
    return f.ask(
        http_post("/v1/operator/grant", R"({"operator":")" + name + R"(","passphrase":")" + passphrase + "\"}"));
  };
  const auto add = [&](const std::string& name, const std::string& body) {
    return f.ask(with_grant(http_post("/v1/operators/" + name, body), anns)).status;
  };
  CHECK(add("bob", R"({"new_passphrase":"short"})") == 400);
  CHECK(add("Bob", R"({"new_passphrase":"bob has one too"})") == 400);
  CHECK(add("bob", R"({"passphrase":"bob has one too"})") == 400);
  CHECK(add("bob", R"({"new_passphrase":"bob has one too"})") == 200);
  CHECK(add("bob", R"({"new_passphrase":"and another one"})") == 409);
  f.store.run([](SQLite::Database&) {});
  CHECK(f.open_alerts() == std::vector<std::string>{"operators_changed"});
  const auto shown = f.ask(http_get("/v1/operator")).body;
  CHECK_THAT(shown, Catch::Contains(R"("name":"bob")") && Catch::Contains(R"("added_by":"operator:operator")"));

  CHECK(f.ask(http_post("/v1/operator/grant", R"({"passphrase":"a good passphrase"})")).status == 400);
  CHECK(grant_of("cleo", kPassphrase).status == 401);
  CHECK(grant_of("bob", kPassphrase).status == 429);
  f.clock.advance(60'000);
  CHECK(grant_of("bob", kPassphrase).status == 401);
  f.clock.advance(60'000);
  const auto answer = grant_of("bob", "bob has one too");
  REQUIRE(answer.status == 200);
  CHECK_THAT(answer.body, Catch::Contains(R"("operator":"bob")"));
  const auto bobs = std::string(find_string(parse_json(answer.body, "it"), "grant").value());
  f.api.asked();
  const auto accept = http_post("/v1/writes/w_1/accept", R"({"content_hash":"abc"})");
  CHECK(f.ask(with_grant(accept, anns)).status == 200);
  CHECK(f.ask(with_grant(accept, bobs)).status == 200);
  // What needs no grant is his who shows one all the same.
  CHECK(f.ask(with_grant(http_post("/v1/writes/w_1/cancel", ""), bobs)).status == 200);
  CHECK(f.api.asked() == std::vector<std::string>{"accept_write w_1 abc operator:operator",
                                                  "accept_write w_1 abc operator:bob",
                                                  "cancel_write w_1 operator:bob"});
  // Another's passphrase is none of his to set; his own ends his grants alone.
  CHECK(f.set(R"({"operator":"operator","passphrase":"bob has one too","new_passphrase":"now it is mine"})").status ==
        401);
  f.clock.advance(60'000);
  CHECK(f.set(R"({"operator":"bob","passphrase":"bob has one too","new_passphrase":"a third passphrase"})").status ==
        200);
  CHECK(f.ask(with_grant(accept, bobs)).status == 401);
  CHECK(f.ask(with_grant(accept, anns)).status == 200);
  // Who is removed has no grant from then on, and the last one stays.
  const auto again = grant_of("bob", "a third passphrase");
  const auto his = std::string(find_string(parse_json(again.body, "it"), "grant").value());
  CHECK(f.ask(with_grant(accept, his)).status == 200);
  CHECK(f.ask(with_grant(http_post("/v1/operators/nobody/remove", ""), anns)).status == 404);
  CHECK(f.ask(with_grant(http_post("/v1/operators/bob/remove", ""), anns)).status == 200);
  CHECK(f.ask(with_grant(accept, his)).status == 401);
  CHECK(f.ask(with_grant(accept, anns)).status == 200);
  CHECK(f.ask(with_grant(http_post("/v1/operators/operator/remove", ""), anns)).status == 409);
  CHECK(f.ask(http_post("/v1/operator/grant", R"({"passphrase":"a good passphrase"})")).status == 200);
}

}  // namespace KRUXOS_TEST_FILE
