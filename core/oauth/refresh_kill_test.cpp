// The host is killed around a refresh: what the service has answered and the vault has stored is never lost.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <thread>

#include "core/net/http_transport.hpp"
#include "core/oauth/provider_fixture.hpp"
#include "core/oauth/token_refresher.hpp"
#include "support/fault.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

/// A child that refreshes once and is killed at `fault`; what it leaves is in the directory.
int refresh_in_child(const std::filesystem::path& directory, std::string_view fault) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!fault.empty()) support::arm_fault(fault);
    DrivenClock clock;
    GroupCommit store(directory / "data/kruxos.db", kLedgerKind);
    Vault vault(store, clock, {directory / "keys/vault.key", directory / "data", VaultMode::kKeyFile, {}});
    std::atomic<bool> done{false};
    TokenRefresher::Hooks hooks;
    hooks.renewed = [&](const AccountRef&) { done = true; };
    hooks.refused = [&](const AccountRef&, const std::string&) { done = true; };
    TokenRefresher refresher(vault, TokenClient(make_http_transport({}), clock), clock, hooks);
    refresher.start();
    while (!done) std::this_thread::yield();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("killed around a refresh, the vault has a pair of tokens that belong together", "[oauth]") {
  for (const std::string point : {"oauth.refresh.before_send", "oauth.refresh.answered", "vault.renew.before_commit",
                                  "vault.renew.after_commit"}) {
    INFO(point);
    support::Scratch scratch;
    Provider provider({tokens("access-1", "refresh-1", 3600)});
    {
      DrivenClock clock;
      std::filesystem::create_directory(scratch.path() / "data");
      GroupCommit store(scratch.path() / "data/kruxos.db", kLedgerKind);
      Vault vault(store, clock, {scratch.path() / "keys/vault.key", scratch.path() / "data", VaultMode::kKeyFile, {}});
      vault.connect(connection(clock.wall_ms() + 1000), credential(provider.url()));
    }
    const int status = refresh_in_child(scratch.path(), point);
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGKILL);
    const bool stored = point == "vault.renew.after_commit";
    {
      DrivenClock clock;
      GroupCommit store(scratch.path() / "data/kruxos.db", kLedgerKind);
      Vault vault(store, clock, {scratch.path() / "keys/vault.key", scratch.path() / "data", VaultMode::kKeyFile, {}});
      const auto kept = vault.credential("notes", "T1", 1);
      REQUIRE(kept);
      CHECK(kept->access_token.reveal() == (stored ? "access-1" : "access-0"));
      CHECK(kept->refresh_token.reveal() == (stored ? "refresh-1" : "refresh-0"));
      CHECK(kept->client_secret.reveal() == "client-secret");
    }
    if (stored) continue;
    // The next run presents the same refresh token again.
    REQUIRE(refresh_in_child(scratch.path(), "") == 0);
    CHECK(provider.requests().back().find("refresh_token=refresh-0&") != std::string::npos);
  }
}

}  // namespace KRUXOS_TEST_FILE
