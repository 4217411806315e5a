// Clients, requests and what the operator decides about them.
#include "core/sign_in/sign_in_store.hpp"

#include <set>

#include "core/sign_in/sign_in_fixture.hpp"
#include "core/sign_in/sign_in_meters.hpp"
#include "core/state/agents.hpp"

namespace KRUXOS_TEST_FILE {

using namespace sign_in_test;

TEST_CASE("a request waits under a code until the operator decides, also over a restart", "[sign_in]") {
  SignInFixture f;
  auto without_state = ask();
  without_state.state.reset();
  const auto other = f.store->begin(without_state);
  const auto begun = f.store->begin(ask());
  CHECK(begun.request.code.size() == 9);
  CHECK(begun.request.code[4] == '-');
  CHECK(begun.handle.size() == 64);
  f.open();
  auto page = f.store->load_page(begun.handle);
  REQUIRE(page);
  CHECK(page->decision == SignInDecision::kWaiting);
  CHECK(page->ask.client.client_id == kClientId);
  CHECK(page->ask.client.metadata.name == "A client");
  CHECK(page->ask.redirect_uri == kBack);
  CHECK(page->ask.state == "a state");
  CHECK_FALSE(f.store->load_page(other.handle)->ask.state);
  CHECK(page->ask.peer == "192.0.2.7");
  CHECK_FALSE(f.store->load_page(std::string(64, '0')));
  auto typed = begun.request.code;
  typed.erase(4, 1);
  for (char& c : typed) c = static_cast<char>(c + 32);
  CHECK(f.store->accept(typed, "agent_1", "operator:me").decision == SignInDecision::kAccepted);
  f.open();
  page = f.store->load_page(begun.handle);
  REQUIRE(page);
  CHECK(page->decision == SignInDecision::kAccepted);
  CHECK(page->agent_id == "agent_1");
  CHECK_THROWS_WITH(f.store->accept(typed, "agent_2", "operator:me"), Catch::Contains("accepted already"));
  // What was accepted can still be refused, until its client has tokens.
  CHECK(f.store->reject(typed, "operator:me").decision == SignInDecision::kRejected);
  CHECK(f.store->reject(typed, "operator:me").decision == SignInDecision::kRejected);
  CHECK_THROWS_WITH(f.store->accept(typed, "agent_1", "operator:me"), Catch::Contains("rejected already"));
  CHECK(f.refusal([&] { f.store->exchange(f.order(SignInStore::authorization_code(begun.handle))); }) ==
        "invalid_grant: The code is unknown, over, or was used before.");
  CHECK_THROWS_WITH(f.store->accept("XXXX-XXXX", "agent_1", "me"), Catch::Contains("There is no request"));
}

TEST_CASE("a request's id names it to be refused, also after a restart, and lets nobody in", "[sign_in]") {
  SignInFixture f;
  const auto first = f.store->begin(ask()), second = f.store->begin(ask());
  const auto id = first.request.request_id;
  CHECK(id.size() == std::string("request_0123456789abcdef").size());
  CHECK(id != second.request.request_id);
  CHECK(first.handle.find(id.substr(id.size() - 16)) == std::string::npos);
  f.open();
  CHECK(f.store->load_page(first.handle)->request_id == id);
  CHECK_THROWS_WITH(f.store->accept(id, "agent_1", "me"), Catch::Contains("There is no request"));
  CHECK_THROWS_WITH(f.store->request(id), Catch::Contains("There is no request"));
  CHECK(f.store->reject(id, "me").code == first.request.code);
  CHECK(f.store->load_page(first.handle)->decision == SignInDecision::kRejected);
  CHECK(f.store->load_page(second.handle)->decision == SignInDecision::kWaiting);
  CHECK_THROWS_AS(f.store->reject("request_", "me"), Error);
}

TEST_CASE("a request is over after ten minutes, and two after it was accepted", "[sign_in]") {
  SignInFixture f;
  const auto begun = f.store->begin(ask());
  f.clock.advance(f.times.request_ms - 1);
  CHECK(f.store->load_page(begun.handle));
  CHECK(f.store->requests().size() == 1);
  f.store->accept(begun.request.code, "agent_1", "me");
  f.clock.advance(f.times.code_ms - 1);
  CHECK(f.store->load_page(begun.handle));
  f.clock.advance(1);
  CHECK_FALSE(f.store->load_page(begun.handle));
  CHECK(f.store->requests().empty());
  CHECK_THROWS_AS(f.store->reject(begun.request.code, "me"), Error);
  CHECK_FALSE(f.refusal([&] { f.store->exchange(f.order(SignInStore::authorization_code(begun.handle))); }).empty());
  const auto second = f.store->begin(ask());
  f.clock.advance(f.times.request_ms);
  CHECK_FALSE(f.store->load_page(second.handle));
}

TEST_CASE("nobody fills the list of requests, and nobody displaces what another address began", "[sign_in]") {
  SignInFixture f({.requests = 6, .requests_of_peer = 2, .page_loads = 3});
  std::set<std::string> codes;
  std::vector<std::string> handles;
  for (int i = 0; i < 3; ++i) {
    handles.push_back(f.store->begin(ask("192.0.2.1")).handle);
    f.clock.advance(1);
  }
  CHECK_FALSE(f.store->load_page(handles[0]));  // the address's own oldest made way, which nobody looked at
  CHECK(f.store->load_page(handles[1]));
  for (const auto* peer : {"192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"}) f.store->begin(ask(peer));
  CHECK_THROWS_WITH(f.store->begin(ask("192.0.2.6")), Catch::Contains("Too many requests"));
  CHECK(f.store->load_page(handles[2]));
  for (const auto& request : f.store->requests()) codes.insert(request.code);
  CHECK(codes.size() == 6);
  CHECK(f.store->load_page(handles[2]));
  CHECK(f.store->load_page(handles[2]));
  CHECK_THROWS_WITH(f.store->load_page(handles[2]), Catch::Contains("loaded too often"));
  f.clock.advance(f.times.request_ms);
  CHECK_NOTHROW(f.store->begin(ask("192.0.2.6")));
}

TEST_CASE("a request whose page is before somebody makes way for none of the same address", "[sign_in]") {
  SignInFixture f({.requests_of_peer = 2});
  const auto first = f.store->begin(ask());
  f.clock.advance(1);
  const auto second = f.store->begin(ask());
  f.store->load_page(first.handle);
  f.clock.advance(f.times.shown_ms - 1);
  const auto third = f.store->begin(ask());  // in the place of the second, which is younger, and not looked at
  CHECK(f.store->load_page(first.handle));
  CHECK_FALSE(f.store->load_page(second.handle));
  CHECK(f.store->load_page(third.handle));
  CHECK_THROWS_WITH(f.store->begin(ask()), Catch::Contains("Too many requests"));
  CHECK_NOTHROW(f.store->begin(ask("192.0.2.8")));
  f.clock.advance(f.times.shown_ms);
  CHECK_NOTHROW(f.store->begin(ask()));
  CHECK_FALSE(f.store->load_page(first.handle));
}

TEST_CASE("clients that register are bounded, and go when they are not used", "[sign_in]") {
  SignInFixture f({.clients = 2});
  const ClientMetadata metadata{"A \"name\"", {kBack, "http://localhost/"}};
  const auto first = f.store->register_client(metadata);
  f.clock.advance(1);
  const auto second = f.store->register_client(metadata);
  f.open();
  const auto kept = f.store->client(first.client_id);
  REQUIRE(kept);
  CHECK(kept->metadata.name == metadata.name);
  CHECK(kept->metadata.redirect_uris == metadata.redirect_uris);
  const auto third = f.store->register_client(metadata);  // the oldest without a grant makes way
  CHECK_FALSE(f.store->client(first.client_id));
  auto asked = ask();
  asked.client = second;
  for (const auto& client : {second, third}) {
    asked.client = client;
    const auto begun = f.store->begin(asked);
    f.store->accept(begun.request.code, "agent_1", "me");
    f.store->exchange(
        {SignInStore::authorization_code(begun.handle), client.client_id, kVerifier, std::nullopt, kResource});
  }
  CHECK_THROWS_WITH(f.store->register_client(metadata), Catch::Contains("as many registered clients"));
  f.clock.advance(f.times.unused_client_ms);
  f.open();
  CHECK_THROWS_AS(f.store->register_client(metadata), Error);  // both have grants
  f.clock.advance(f.times.idle_client_ms);
  const auto last = f.store->register_client(metadata);
  CHECK_FALSE(f.store->client(second.client_id));
  f.clock.advance(f.times.unused_client_ms);
  f.store->begin(ask());
  CHECK_FALSE(f.store->client(last.client_id));
}

TEST_CASE("grants are bounded: accepting is refused", "[sign_in]") {
  SignInFixture f({.grants = 2});
  f.signed_in();
  f.accepted();
  const auto begun = f.store->begin(ask());
  CHECK_THROWS_WITH(f.store->accept(begun.request.code, "agent_1", "me"), Catch::Contains("There are 2 grants"));
  f.store->end(f.store->grants().front().grant_id, "me");
  CHECK_NOTHROW(f.store->accept(begun.request.code, "agent_1", "me"));
}

TEST_CASE("a new agent is made with what is accepted for it, or not at all", "[sign_in]") {
  SignInFixture f({.grants = 1});
  AgentStore agents(*f.commits, f.clock);
  const auto accept = [&](const std::string& code, const std::string& name) {
    return agents.find_or_create(name, [&](const Agent& agent, const auto& make) {
      f.store->accept(code, agent.agent_id, "operator:me", make);
    });
  };
  const auto begun = f.store->begin(ask()), late = f.store->begin(ask());
  CHECK_THROWS_WITH(accept("XXXX-XXXX", "one"), Catch::Contains("There is no request"));
  CHECK_THROWS_WITH(accept(begun.request.code, "no name"), Catch::Contains("is no name for an agent"));
  CHECK(agents.list().empty());
  const auto made = accept(begun.request.code, "one");
  CHECK(made.is_new);
  CHECK(f.store->load_page(begun.handle)->agent_id == made.agent.agent_id);
  CHECK_THROWS_WITH(accept(begun.request.code, "two"), Catch::Contains("accepted already"));
  CHECK_THROWS_WITH(accept(late.request.code, "three"), Catch::Contains("There are 1 grants"));
  CHECK(agents.list().size() == 1);
  f.store->reject(begun.request.code, "me");
  const auto again = accept(late.request.code, "ONE");
  CHECK_FALSE(again.is_new);
  CHECK(again.agent.agent_id == made.agent.agent_id);
  AgentStore reopened(*f.commits, f.clock);
  CHECK(reopened.list().size() == 1);
  CHECK(reopened.active(made.agent.agent_id));
}

TEST_CASE("an agent's grants end with it, and what was accepted for it is over", "[sign_in]") {
  SignInFixture f;
  const auto his = f.signed_in();
  const auto others = f.store->exchange(f.order(f.accepted("agent_2")));
  const auto code = f.accepted();
  f.store->end_of_agent("agent_1", "operator:me");
  CHECK(f.told > 0);
  CHECK_FALSE(f.is_good(his));
  CHECK(f.is_good(others));
  CHECK_FALSE(f.refusal([&] { f.store->exchange(f.order(code)); }).empty());
  f.open();
  CHECK_FALSE(f.is_good(his));
  for (const auto& grant : f.store->grants()) CHECK((grant.ended_at_ms != 0) == (grant.agent_id == "agent_1"));
}

TEST_CASE("what happens is counted, once for each that happens", "[sign_in]") {
  SignInFixture f;
  MetricRegistry registry;
  SignInMeters meters(registry);
  f.store->count_into(&meters);
  const auto counts = [&](const std::string& line) {
    return registry.text(MetricSheet()).find("kruxos_sign_in_" + line + "\n") != std::string::npos;
  };
  const auto first = f.signed_in();
  const auto code = f.accepted("agent_2");
  const auto second = f.store->exchange(f.order(code));
  f.store->reject(f.store->begin(ask()).request.code, "me");
  CHECK(counts("requests_total{outcome=\"begun\"} 3"));
  CHECK(counts("requests_total{outcome=\"accepted\"} 2"));
  CHECK(counts("requests_total{outcome=\"rejected\"} 1"));
  CHECK(counts("tokens_total{outcome=\"issued\"} 2"));
  const auto renewed = f.refresh(first.refresh_token);
  f.store->revoke(renewed.access_token, kClientId);
  f.store->revoke("unknown", kClientId);
  f.store->end_of_agent("agent_1", "me");
  f.store->end_of_agent("agent_1", "me");
  CHECK(counts("tokens_total{outcome=\"refreshed\"} 1"));
  CHECK(counts("tokens_total{outcome=\"revoked\"} 2"));
  CHECK_FALSE(f.refusal([&] { f.store->exchange(f.order("kruxac_unknown")); }).empty());
  CHECK(counts("tokens_total{outcome=\"replayed\"} 0"));
  CHECK_FALSE(f.refusal([&] { f.store->exchange(f.order(code)); }).empty());
  CHECK_FALSE(f.refusal_of_refresh(second.refresh_token).empty());  // its grant has ended by that: once
  CHECK(counts("tokens_total{outcome=\"replayed\"} 1"));
  const auto third = f.signed_in();
  f.refresh(f.refresh(third.refresh_token).refresh_token);
  CHECK_FALSE(f.refusal_of_refresh(third.refresh_token).empty());
  CHECK(counts("tokens_total{outcome=\"replayed\"} 2"));
}

TEST_CASE("ended grants are shown for a while, and no more than a number of them", "[sign_in]") {
  SignInFixture f({.ended_grants = 2});
  for (int i = 0; i < 4; ++i) {
    f.signed_in();
    f.store->end(f.store->grants().front().grant_id, "me");
    f.clock.advance(1);
  }
  f.store->begin(ask());
  CHECK(f.store->grants().size() == 2);
  f.clock.advance(f.times.ended_grant_ms);
  f.store->begin(ask());
  CHECK(f.store->grants().empty());
  CHECK_THROWS_WITH(f.store->end("grant_x", "me"), Catch::Contains("There is no grant"));
}

}  // namespace KRUXOS_TEST_FILE
