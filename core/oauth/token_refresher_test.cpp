#include "core/oauth/token_refresher.hpp"

#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "core/net/http_transport.hpp"
#include "core/oauth/provider_fixture.hpp"
#include "core/util/durations.hpp"
#include "support/fault_vfs.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

const AccountRef kAccount{"notes", "T1", 1};

/// A refresher over a real vault and a provider on a socket; the clock is driven.
struct Rig {
  VaultRig held;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> told, counted;
  std::atomic<bool> broken{false};
  std::unique_ptr<TokenRefresher> refresher;
  std::shared_ptr<HttpTransport> transport = make_http_transport({});

  explicit Rig(const std::string& token_url, std::int64_t expires_in_ms = kHour) {
    held.vault->connect(connection(held.clock.wall_ms() + expires_in_ms), credential(token_url));
    start();
  }
  ~Rig() {
    refresher.reset();
    transport->stop();
  }
  void start() {
    TokenRefresher::Hooks hooks;
    hooks.renewed = [this](const AccountRef&) {
      tell("renewed");
      if (broken) throw std::runtime_error("on purpose");
    };
    hooks.resume = [this](const AccountRef&) { tell("resume"); };
    hooks.refused = [this](const AccountRef&, const std::string& why) { tell("refused " + why); };
    hooks.ended = [this](const AccountRef&, const std::string& why) { tell("ended " + why); };
    hooks.count = [this](const AccountRef&, const char* outcome) {
      const std::lock_guard lock(mutex);
      counted.emplace_back(outcome);
    };
    refresher = std::make_unique<TokenRefresher>(*held.vault, TokenClient(transport, held.clock), held.clock, hooks);
    refresher->start();
  }
  void tell(const std::string& what) {
    const std::lock_guard lock(mutex);
    told.push_back(what);
    changed.notify_all();
  }
  bool await_told(std::size_t n) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), [&] { return told.size() >= n; });
  }
  std::vector<std::string> counts() {
    const std::lock_guard lock(mutex);
    return counted;
  }
  /// Until both threads wait for a time to come.
  void settle() {
    while (held.clock.waiters() < 2) std::this_thread::yield();
  }
  void pass(std::int64_t ms) {
    settle();
    held.clock.advance(ms);
  }
  CallContextPtr call(std::int64_t ms = kHour) {
    return std::make_shared<CallContext>(CallOwner{"notes", "T1", 1, "", 0}, held.clock, held.clock.boot_ms() + ms);
  }
};

bool sent(const std::string& request, const std::string& refresh_token) {
  return request.find("refresh_token=" + refresh_token + "&") != std::string::npos;
}

}  // namespace

TEST_CASE("a token is renewed when five minutes are left, not before", "[oauth]") {
  Provider provider({tokens("access-1", "refresh-1", 3600)});
  Rig rig(provider.url());
  for (int minute = 0; minute < 54; ++minute) rig.pass(kMinute);
  rig.settle();
  CHECK(provider.requests().empty());
  rig.pass(kMinute);
  REQUIRE(rig.await_told(1));
  CHECK(sent(provider.requests().at(0), "refresh-0"));
  CHECK(provider.requests().at(0).find("client_secret=client-secret") != std::string::npos);
  CHECK(rig.held.access() == "access-1");
  CHECK(rig.held.refresh() == "refresh-1");
  CHECK(rig.held.expires_at() == rig.held.clock.wall_ms() + kHour);
  CHECK(rig.held.vault->credential("notes", "T1", 1)->previous_refresh_token.reveal() == "refresh-0");
  rig.refresher.reset();
  rig.held.open();  // after a restart it is the same
  CHECK(rig.held.access() == "access-1");
  CHECK(rig.held.refresh() == "refresh-1");
}

TEST_CASE("the old refresh token stays where none comes", "[oauth]") {
  Provider provider({tokens("access-1", "", 3600)});
  Rig rig(provider.url(), kMinute);
  REQUIRE(rig.await_told(1));
  CHECK(rig.held.access() == "access-1");
  CHECK(rig.held.refresh() == "refresh-0");
}

TEST_CASE("a failure for now is tried again, and the old token is used until it ends", "[oauth]") {
  Provider provider({error("temporarily_unavailable", "503 Service Unavailable")});
  Rig rig(provider.url(), 4 * kMinute);
  while (rig.counts().empty()) std::this_thread::yield();
  rig.settle();
  CHECK(rig.counts() == std::vector<std::string>{"failed"});
  CHECK(rig.refresher->ensure(kAccount, rig.call()).status == KRUX_OK);
  CHECK(rig.held.access() == "access-0");
  rig.pass(kMinute);  // 1 min later
  while (rig.counts().size() < 2) std::this_thread::yield();
  rig.pass(kMinute);
  rig.settle();
  CHECK(rig.counts().size() == 2);  // then 2 min
  rig.pass(2 * kMinute);
  REQUIRE(rig.await_told(1));
  CHECK(rig.told[0] == "ended temporarily_unavailable: as said");
  const auto outcome = rig.refresher->ensure(kAccount, rig.call());
  CHECK(outcome.status == KRUX_UNAVAILABLE);
  CHECK(outcome.retry_after_ms.value_or(0) >= 1000);
  provider.answer_next(tokens("access-1", "refresh-1", 3600));
  rig.pass(4 * kMinute);
  REQUIRE(rig.await_told(2));
  CHECK(rig.told[1] == "renewed");
  CHECK(rig.refresher->ensure(kAccount, rig.call()).status == KRUX_OK);
}

TEST_CASE("a refusal for good is told once, after the token before was tried", "[oauth]") {
  Provider provider({tokens("access-1", "refresh-1", 60), error("invalid_grant"), error("invalid_grant")});
  Rig rig(provider.url(), kMinute);
  REQUIRE(rig.await_told(1));
  rig.pass(2 * kMinute);
  rig.held.clock.advance(0);
  while (provider.requests().size() < 3) std::this_thread::yield();
  while (!rig.await_told(2)) std::this_thread::yield();
  CHECK(sent(provider.requests().at(1), "refresh-1"));
  CHECK(sent(provider.requests().at(2), "refresh-0"));
  CHECK(rig.refresher->ensure(kAccount, rig.call()).status == KRUX_AUTH);
  CHECK(rig.refresher->renew(kAccount, "access-1", rig.call()).status == KRUX_AUTH);
  CHECK_FALSE(rig.refresher->suspect(kAccount));
  for (int i = 0; i < 30; ++i) rig.pass(kMinute);
  rig.settle();
  CHECK(provider.requests().size() == 3);
  CHECK(std::count(rig.told.begin(), rig.told.end(), "refused invalid_grant: as said") == 1);
  // Connected again it begins anew.
  rig.held.vault->connect(connection(rig.held.clock.wall_ms() + kHour), credential(provider.url()));
  rig.refresher->wake();
  CHECK(rig.refresher->ensure(kAccount, rig.call()).status == KRUX_OK);
}

TEST_CASE("the token before is used where the service has kept it", "[oauth]") {
  Provider provider(
      {tokens("access-1", "refresh-1", 60), error("invalid_grant"), tokens("access-2", "refresh-2", 3600)});
  Rig rig(provider.url(), kMinute);
  REQUIRE(rig.await_told(1));
  rig.pass(2 * kMinute);
  while (rig.held.access() != "access-2") std::this_thread::yield();
  CHECK(sent(provider.requests().at(2), "refresh-0"));
  CHECK(rig.held.refresh() == "refresh-2");
}

TEST_CASE("tokens that live for seconds are renewed in time", "[oauth]") {
  Provider provider({tokens("access-1", "", 20), tokens("access-2", "", 20), tokens("access-3", "", 20),
                     tokens("access-4", "", 20), tokens("access-5", "", 20), tokens("access-6", "", 20),
                     tokens("access-7", "", 3600)});
  Rig rig(provider.url(), kMinute);
  REQUIRE(rig.await_told(1));
  for (std::size_t n = 1; n < 7; ++n) {
    rig.pass(9'000);
    rig.settle();
    CHECK(provider.requests().size() == n);
    rig.pass(1'000);
    while (rig.counts().size() <= n) std::this_thread::yield();
    CHECK(rig.refresher->ensure(kAccount, rig.call()).status == KRUX_OK);
  }
  // Those who met an old token are told all the same.
  rig.settle();
  CHECK(std::count(rig.told.begin(), rig.told.end(), "resume") == 1);
}

TEST_CASE("of a token that ends at once it is said so, and that is soon over", "[oauth]") {
  Provider provider({tokens("access-1", "", 1), tokens("access-2", "", 3600)});
  Rig rig(provider.url(), kMinute);
  REQUIRE(rig.await_told(1));
  rig.pass(2'000);
  const auto outcome = rig.refresher->ensure(kAccount, rig.call());
  CHECK(outcome.status == KRUX_UNAVAILABLE);
  CHECK_THAT(outcome.message, Catch::EndsWith("it has just been renewed, and ended at once"));
  CHECK(outcome.retry_after_ms == 3'000);
  rig.pass(3'000);
  REQUIRE(rig.await_told(2));
  CHECK(rig.refresher->ensure(kAccount, rig.call()).status == KRUX_OK);
}

TEST_CASE("what goes wrong behind a renewal ends neither the refresher nor the account", "[oauth]") {
  Provider provider({tokens("access-1", "refresh-1", 3600), tokens("access-2", "refresh-2", 3600)});
  Rig rig(provider.url());
  rig.broken = true;
  REQUIRE(rig.refresher->suspect(kAccount));
  REQUIRE(rig.await_told(1));
  rig.settle();
  CHECK(rig.held.access() == "access-1");
  rig.broken = false;
  rig.pass(2 * kMinute);
  rig.settle();
  REQUIRE(rig.refresher->suspect(kAccount));
  while (rig.held.access() != "access-2") std::this_thread::yield();
}

TEST_CASE("a word that nobody knows gives no account up", "[oauth]") {
  Provider provider({error("forbidden", "403 Forbidden"), tokens("access-1", "refresh-1", 3600)});
  Rig rig(provider.url(), kMinute / 2);
  while (rig.counts().empty()) std::this_thread::yield();
  CHECK(rig.counts() == std::vector<std::string>{"failed"});
  rig.pass(kMinute);
  REQUIRE(rig.await_told(1));
  CHECK(rig.told.front() == "renewed");
}

TEST_CASE("many callers who meet the same 401 bring one refresh", "[oauth]") {
  Provider provider({tokens("access-1", "refresh-1", 3600)});
  Rig rig(provider.url());
  std::vector<std::thread> callers;
  std::atomic<int> renewed{0};
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      if (rig.refresher->renew(kAccount, "access-0", rig.call()).status == KRUX_OK) ++renewed;
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(renewed == 8);
  CHECK(provider.requests().size() == 1);
  // A token that has just come is not refused for its age.
  CHECK(rig.refresher->renew(kAccount, "access-1", rig.call()).status == KRUX_AUTH);
  CHECK_FALSE(rig.refresher->suspect(kAccount));
  CHECK(provider.requests().size() == 1);
  CHECK(rig.refresher->renew({"notes", "T9", 1}, "x", rig.call()).status == KRUX_AUTH);
}

TEST_CASE("who waits for a refresh can be cancelled, and the refresh goes on", "[oauth]") {
  std::mutex held;
  std::unique_lock answering(held);
  TestServer server([&](Peer& peer, int) {
    peer.read_request();
    const std::lock_guard wait(held);
    peer.write(tokens("access-1", "refresh-1", 3600));
  });
  Rig rig(server.url("/token"));
  const auto call = rig.call();
  krux_status status = KRUX_OK;
  std::thread caller([&] { status = rig.refresher->renew(kAccount, "access-0", call).status; });
  while (server.connections() == 0) std::this_thread::yield();
  call->cancel();
  caller.join();
  CHECK(status == KRUX_CANCELLED);
  answering.unlock();
  REQUIRE(rig.await_told(1));
  CHECK(rig.held.access() == "access-1");
}

TEST_CASE("a clock that is set hides no end of a token", "[oauth]") {
  Provider provider({tokens("access-1", "refresh-1", 3600)});
  Rig rig(provider.url());
  rig.settle();
  rig.held.clock.jump_wall(-24 * kHour);
  rig.pass(56 * kMinute);  // by the wall clock it would live for another day
  REQUIRE(rig.await_told(1));
  rig.pass(kMinute);
  REQUIRE(rig.await_told(2));
  CHECK(rig.told[1] == "resume");
  rig.held.clock.jump_wall(48 * kHour);
  rig.pass(kMinute);
  REQUIRE(rig.await_told(3));
  CHECK(provider.requests().size() == 2);
  CHECK(rig.held.expires_at() >= rig.held.clock.wall_ms() + kHour - kMinute);
}

TEST_CASE("while it cannot be stored the new token waits, and nobody is asked again", "[oauth]") {
  const support::FaultVfs disk;
  Provider provider({tokens("access-1", "refresh-1", 3600), error("invalid_grant")});
  {
    Rig rig(provider.url());
    rig.settle();
    const_cast<support::FaultVfs&>(disk).fail_writes(SQLITE_IOERR);
    REQUIRE(rig.refresher->suspect(kAccount));
    while (rig.counts().empty()) std::this_thread::yield();
    CHECK(rig.counts().front() == "not_stored");
    CHECK(rig.held.access() == "access-0");
    const_cast<support::FaultVfs&>(disk).heal();
    while (rig.held.access() != "access-1") {
      rig.pass(5'000);
      // Storing takes real time, in which the token must not grow old.
      for (int i = 0; i < 200 && rig.held.access() != "access-1"; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(rig.held.refresh() == "refresh-1");
    CHECK(provider.requests().size() == 1);
  }
}

TEST_CASE("a refresh that ends after the account was connected again changes nothing", "[oauth]") {
  std::mutex held;
  std::unique_lock answering(held);
  TestServer server([&](Peer& peer, int) {
    peer.read_request();
    const std::lock_guard wait(held);
    peer.write(tokens("access-1", "refresh-1", 3600));
  });
  Rig rig(server.url("/token"));
  REQUIRE(rig.refresher->suspect(kAccount));
  while (server.connections() == 0) std::this_thread::yield();
  auto other = credential(server.url("/token"));
  other.access_token = Secret("other");
  rig.held.vault->connect(connection(0), other);
  rig.refresher->wake();
  answering.unlock();
  while (rig.counts().empty()) std::this_thread::yield();
  CHECK(rig.counts().front() == "not_stored");
  CHECK(rig.held.access() == "other");
  CHECK(rig.told.empty());
}

TEST_CASE("pasted tokens and disconnected accounts are left alone", "[oauth]") {
  Provider provider({tokens("access-1", "refresh-1", 3600)});
  Rig rig(provider.url());
  rig.held.vault->connect(connection(0, "T2"), Secret("pasted"));
  rig.refresher->wake();
  CHECK(rig.refresher->ensure({"notes", "T2", 1}, rig.call()).status == KRUX_OK);
  CHECK_FALSE(rig.refresher->suspect({"notes", "T2", 1}));
  rig.held.vault->disconnect("notes", "T1");
  rig.refresher->wake();
  for (int i = 0; i < 70; ++i) rig.pass(kMinute);
  CHECK(provider.requests().empty());
}

}  // namespace KRUXOS_TEST_FILE
