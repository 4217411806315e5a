// Codes and tokens: used once, renewed, reused, lost.
#include <fstream>
#include <iterator>
#include <thread>

#include "core/sign_in/sign_in_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace sign_in_test;

TEST_CASE("a code becomes tokens once, also after a restart, and a second use ends the grant", "[sign_in]") {
  const bool restarted = GENERATE(false, true);
  SignInFixture f;
  const auto code = f.accepted();
  const auto tokens = f.store->exchange(f.order(code));
  CHECK(tokens.expires_in_ms == f.times.access_ms);
  CHECK(is_access_token(tokens.access_token));
  CHECK_FALSE(is_access_token(tokens.refresh_token));
  CHECK(f.is_good(tokens));
  if (restarted) f.open();
  CHECK(f.is_good(tokens));
  CHECK_THAT(f.refusal([&] { f.store->exchange(f.order(code)); }), Catch::StartsWith("invalid_grant"));
  CHECK_FALSE(f.is_good(tokens));
  CHECK(f.told == 1);
  CHECK_THAT(f.refusal_of_refresh(tokens.refresh_token), Catch::Contains("has ended"));
  CHECK(f.store->grants().front().end_reason == "its authorization code was used a second time");
  f.open();
  CHECK_FALSE(f.is_good(tokens));
}

TEST_CASE("a code that is shown by another, or with another address or verifier, is spent", "[sign_in]") {
  struct Row {
    const char* what;
    void (*change)(CodeExchange&);
  };
  const auto row = GENERATE(values<Row>({
      {"client", [](CodeExchange& o) { o.client_id = "https://other.example/c"; }},
      {"redirect_uri", [](CodeExchange& o) { o.redirect_uri = kBack + "/"; }},
      {"verifier", [](CodeExchange& o) { o.verifier = std::string(43, 'w'); }},
      {"short verifier", [](CodeExchange& o) { o.verifier = "v"; }},
      {"odd verifier", [](CodeExchange& o) { o.verifier = std::string(42, 'v') + "\n"; }},
      {"challenge as verifier", [](CodeExchange& o) { o.verifier = challenge_of(kVerifier); }},
      {"resource", [](CodeExchange& o) { o.audience = "https://other.example/mcp"; }},
  }));
  INFO(row.what);
  SignInFixture f;
  const auto code = f.accepted();
  auto order = f.order(code);
  row.change(order);
  CHECK_THAT(f.refusal([&] { f.store->exchange(order); }), Catch::StartsWith("invalid_grant"));
  CHECK_THAT(f.refusal([&] { f.store->exchange(f.order(code)); }), Catch::StartsWith("invalid_grant"));
  CHECK(f.store->grants().empty());
}

TEST_CASE("a code without redirect_uri is taken, and one that nobody has accepted is none", "[sign_in]") {
  SignInFixture f;
  auto order = f.order(f.accepted());
  order.redirect_uri.reset();
  CHECK(f.is_good(f.store->exchange(order)));
  const auto begun = f.store->begin(ask());
  CHECK_THAT(f.refusal([&] { f.store->exchange(f.order(SignInStore::authorization_code(begun.handle))); }),
             Catch::StartsWith("invalid_grant"));
  CHECK(f.store->load_page(begun.handle));  // and its request goes on
  CHECK_FALSE(f.refusal([&] { f.store->exchange(f.order("kruxac_" + std::string(64, '0'))); }).empty());
}

TEST_CASE("an access token is good for one audience and one hour", "[sign_in]") {
  SignInFixture f;
  const auto tokens = f.signed_in();
  CHECK_FALSE(f.store->authenticate(tokens.access_token, "https://other.example/mcp"));
  for (const auto& bad : {tokens.refresh_token, "kruxat_" + std::string(64, 'a'), std::string()})
    CHECK_FALSE(f.store->authenticate(bad, kResource));
  const auto owner = f.store->authenticate(tokens.access_token, kResource);
  REQUIRE(owner);
  CHECK(owner->agent_id == "agent_1");
  CHECK(owner->grant_id == f.store->grants().front().grant_id);
  f.clock.advance(f.times.access_ms);
  CHECK_FALSE(f.is_good(tokens));
}

TEST_CASE("each refresh gives a new pair, and one that was used before ends the grant however old it is", "[sign_in]") {
  SignInFixture f;
  const auto first = f.signed_in();
  const auto second = f.refresh(first.refresh_token);
  CHECK(f.is_good(first));  // requests under way
  CHECK(f.is_good(second));
  auto newest = second;
  for (int i = 0; i < 5; ++i) newest = f.refresh(newest.refresh_token);
  CHECK_FALSE(f.is_good(first));
  CHECK(f.is_good(newest));
  f.open();
  CHECK(f.is_good(newest));
  const bool oldest = GENERATE(true, false);
  CHECK_THAT(f.refusal_of_refresh(oldest ? first.refresh_token : second.refresh_token),
             Catch::Contains("used before. Its grant has ended"));
  CHECK_FALSE(f.is_good(newest));
  CHECK_THAT(f.refusal_of_refresh(newest.refresh_token), Catch::Contains("has ended"));
  CHECK(f.store->grants().front().end_reason == "a refresh token was used a second time");
}

TEST_CASE("who lost the answer to a refresh may repeat it within a minute, also after a restart", "[sign_in]") {
  SignInFixture f;
  const auto first = f.signed_in();
  const auto lost = f.refresh(first.refresh_token);
  if (GENERATE(false, true)) f.open();
  f.clock.advance(f.times.grace_ms - 1);
  const auto second = f.refresh(first.refresh_token);
  CHECK(f.is_good(second));
  CHECK(f.is_good(lost));
  CHECK(f.is_good(f.refresh(second.refresh_token)));
}

TEST_CASE("two workers of one host renew beside each other, each with what it got", "[sign_in]") {
  SignInFixture f;
  const auto first = f.signed_in();
  auto one = f.refresh(first.refresh_token);
  CHECK(f.is_good(one));
  auto other = f.refresh(first.refresh_token);
  for (int i = 0; i < 5; ++i) {
    CHECK(f.is_good(one));
    CHECK(f.is_good(other));
    f.clock.advance(f.times.grace_ms * 2);
    one = f.refresh(one.refresh_token);
    if (i == 2) f.open();
    f.clock.advance(f.times.grace_ms * 2);
    other = f.refresh(other.refresh_token);
  }
  CHECK(f.store->grants().front().ended_at_ms == 0);
  CHECK_FALSE(f.refusal_of_refresh(first.refresh_token).empty());
  CHECK_FALSE(f.is_good(one));
  CHECK_FALSE(f.is_good(other));
}

TEST_CASE("a refresh is repeated a few times, and what it gave goes on when there are too many", "[sign_in]") {
  SignInFixture f;
  const auto first = f.signed_in();
  std::vector<SignInTokens> pairs;
  for (int i = 0; i < 4; ++i) pairs.push_back(f.refresh(first.refresh_token));
  CHECK_THAT(f.refusal_of_refresh(first.refresh_token), Catch::Contains("too often"));
  for (const auto& pair : pairs) CHECK(f.is_good(pair));
  for (const auto& pair : pairs) CHECK(f.is_good(f.refresh(pair.refresh_token)));
}

TEST_CASE("a refresh is not repeated after that minute, though nothing of the new pair was used", "[sign_in]") {
  SignInFixture f;
  const auto first = f.signed_in();
  const auto lost = f.refresh(first.refresh_token);
  f.clock.advance(f.times.grace_ms);
  CHECK_THAT(f.refusal_of_refresh(first.refresh_token), Catch::Contains("used before"));
  CHECK_FALSE(f.is_good(lost));
}

TEST_CASE("a refresh is not repeated once the new pair was renewed: that is the token of an older generation",
          "[sign_in]") {
  SignInFixture f;
  const auto first = f.signed_in();
  const auto third = f.refresh(f.refresh(first.refresh_token).refresh_token);
  CHECK(f.is_good(third));
  if (GENERATE(false, true)) f.open();
  CHECK_THAT(f.refusal_of_refresh(first.refresh_token), Catch::Contains("used before. Its grant has ended"));
  CHECK_FALSE(f.is_good(third));
}

TEST_CASE("a refresh token is its client's, for its audience, and unknown ones end nothing", "[sign_in]") {
  SignInFixture f;
  const auto tokens = f.signed_in();
  CHECK_THAT(f.refusal([&] {
    f.store->refresh({tokens.refresh_token, "client_x", kResource});
  }),
             Catch::Contains("another client"));
  CHECK_THAT(f.refusal([&] {
    f.store->refresh({tokens.refresh_token, kClientId, "https://other.example/mcp"});
  }),
             Catch::Contains("not served any more"));
  for (const auto& bad : {std::string(), std::string("x"), tokens.access_token, tokens.refresh_token + "0",
                          "kruxrt_" + std::string(96, '0'), std::string(100'000, 'a')})
    CHECK_THAT(f.refusal_of_refresh(bad), Catch::Contains("unknown"));
  CHECK(f.is_good(f.refresh(tokens.refresh_token)));
}

TEST_CASE("a grant that is not renewed ends, and each refresh renews it", "[sign_in]") {
  SignInFixture f;
  auto tokens = f.signed_in();
  for (int i = 0; i < 3; ++i) {
    f.clock.advance(f.times.idle_ms - 1);
    tokens = f.refresh(tokens.refresh_token);
  }
  f.clock.advance(f.times.idle_ms);
  CHECK_THAT(f.refusal_of_refresh(tokens.refresh_token), Catch::Contains("has ended"));
  CHECK(f.store->grants().front().end_reason == "it was not renewed");
}

TEST_CASE("a client revokes an access token alone, or its grant", "[sign_in]") {
  SignInFixture f;
  const auto tokens = f.signed_in();
  CHECK_NOTHROW(f.store->revoke("nobody's", kClientId));
  CHECK_THAT(f.refusal([&] { f.store->revoke(tokens.access_token, "client_x"); }), Catch::StartsWith("invalid_grant"));
  CHECK(f.is_good(tokens));
  f.store->revoke(tokens.access_token, kClientId);
  CHECK(f.told == 1);
  CHECK_FALSE(f.is_good(tokens));
  const auto next = f.refresh(tokens.refresh_token);
  CHECK(f.is_good(next));
  f.store->revoke(next.refresh_token, "");
  CHECK_FALSE(f.is_good(next));
  CHECK(f.store->grants().front().end_reason == "its client has signed out");
  f.open();
  CHECK_FALSE(f.is_good(next));
}

TEST_CASE("the database holds no handle, code or token", "[sign_in]") {
  SignInFixture f;
  const auto begun = f.store->begin(ask());
  f.store->accept(begun.request.code, "agent_1", "me");
  const auto code = SignInStore::authorization_code(begun.handle);
  const auto tokens = f.store->exchange(f.order(code));
  const auto waiting = f.store->begin(ask());
  f.store.reset();
  f.commits.reset();
  std::string bytes;
  for (const auto& file : std::filesystem::directory_iterator(f.scratch.path())) {
    std::ifstream in(file.path(), std::ios::binary);
    bytes.append(std::istreambuf_iterator<char>(in), {});
  }
  CHECK(bytes.find(kClientId) != std::string::npos);
  const auto family = tokens.refresh_token.substr(7, 32);
  for (const auto& secret : {begun.handle, waiting.handle, code.substr(7), tokens.access_token.substr(7), family,
                             tokens.refresh_token.substr(39)})
    CHECK(bytes.find(secret) == std::string::npos);
}

TEST_CASE("tokens are looked at and renewed by many threads at once", "[sign_in]") {
  SignInFixture f;
  auto tokens = f.signed_in();
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&, shown = tokens.access_token] {
      while (!done) f.store->authenticate(shown, kResource);
    });
  for (int i = 0; i < 20; ++i) {
    tokens = f.refresh(tokens.refresh_token);
    f.store->grants();
    f.clock.advance(70'000);
  }
  done = true;
  for (auto& reader : readers) reader.join();
  CHECK(f.is_good(tokens));
}

}  // namespace KRUXOS_TEST_FILE
