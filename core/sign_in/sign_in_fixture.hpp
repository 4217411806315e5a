// A store of sign-ins over a real database, and one client that knows its part.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "core/oauth/pkce.hpp"
#include "core/sign_in/sign_in_store.hpp"
#include "core/storage/group_commit.hpp"
#include "core/util/error.hpp"
#include "support/scratch.hpp"

namespace sign_in_test {

using namespace krux;

inline const std::string kResource = "https://kruxos.example/mcp", kBack = "https://client.example/back",
                         kVerifier(43, 'v'), kClientId = "https://client.example/client.json";

inline SignInAsk ask(const std::string& peer = "192.0.2.7") {
  return {{kClientId, {"A client", {kBack}}}, kBack, "a state", challenge_of(kVerifier), kResource, peer};
}

struct SignInFixture {
  support::Scratch scratch;
  DrivenClock clock;
  SignInTimes times;
  SignInBounds bounds;
  std::unique_ptr<GroupCommit> commits;
  std::unique_ptr<SignInStore> store;
  int told = 0;

  explicit SignInFixture(SignInBounds b = {}) : bounds(b) { open(); }
  void open() {
    store.reset();
    commits.reset();
    commits = std::make_unique<GroupCommit>(scratch.path() / "kruxos.db", kLedgerKind);
    store = std::make_unique<SignInStore>(*commits, clock, times, bounds);
    store->when_tokens_end([this] { ++told; });
  }

  /// The authorization code of a request that was accepted.
  std::string accepted(const std::string& agent_id = "agent_1") {
    const auto begun = store->begin(ask());
    store->accept(begun.request.code, agent_id, "operator:me");
    return SignInStore::authorization_code(begun.handle);
  }
  static CodeExchange order(const std::string& code) { return {code, kClientId, kVerifier, kBack, kResource}; }
  SignInTokens signed_in() { return store->exchange(order(accepted())); }
  SignInTokens refresh(const std::string& token) { return store->refresh({token, kClientId, kResource}); }

  /// "" of one that was not refused.
  template <class Call>
  static std::string refusal(Call call) {
    try {
      call();
      return "";
    } catch (const SignInRefused& why) {
      return std::string(why.error()) + ": " + why.what();
    }
  }
  std::string refusal_of_refresh(const std::string& token) {
    return refusal([&] { refresh(token); });
  }
  bool is_good(const SignInTokens& tokens) { return store->authenticate(tokens.access_token, kResource).has_value(); }
};

}  // namespace sign_in_test
