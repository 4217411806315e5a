// A provider of tokens for tests, on a real socket, and an account of it in a real vault.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/net/test_server.hpp"
#include "core/oauth/token_client.hpp"
#include "core/storage/group_commit.hpp"
#include "core/vault/vault.hpp"
#include "support/scratch.hpp"

namespace krux::test {

/// Answers requests in turn from a list, then with the last one; remembers what was sent.
class Provider {
 public:
  explicit Provider(std::deque<std::string> answers) : answers_(std::move(answers)) {}

  std::string url() const { return server_.url("/token"); }
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  void answer_next(std::string text) {
    const std::lock_guard lock(mutex_);
    answers_ = {std::move(text)};
  }

 private:
  void serve(Peer& peer) {
    while (true) {
      const auto request = peer.read_request();
      if (request.empty()) return;
      std::string text;
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
        text = answers_.front();
        if (answers_.size() > 1) answers_.pop_front();
      }
      if (text.empty() || !peer.write(text)) return;
    }
  }

  std::mutex mutex_;
  std::deque<std::string> answers_;
  std::vector<std::string> requests_;
  TestServer server_{[this](Peer& peer, int) { serve(peer); }};
};

inline std::string tokens(const std::string& access, const std::string& refresh, int expires_in) {
  return answer(R"({"access_token":")" + access + "\"," +
                (refresh.empty() ? "" : R"("refresh_token":")" + refresh + "\",") +
                R"("token_type":"Bearer","expires_in":)" + std::to_string(expires_in) + "}");
}

inline std::string error(const std::string& name, const std::string& status = "400 Bad Request",
                         const std::string& headers = "") {
  return answer(R"({"error":")" + name + R"(","error_description":"as said"})", status, headers);
}

inline Credential credential(const std::string& token_url) {
  return {
      Secret("access-0"), Secret("refresh-0"), Secret(), Secret("client-secret"), "client-id", token_url, "", "", 0};
}

inline Connection connection(std::int64_t expires_at_ms, const std::string& id = "T1") {
  Connection c;
  c.service = "notes";
  c.account_id = id;
  c.display_name = "Team";
  c.principal = "U1";
  c.token_origin = "https://notes.example";
  c.name = id == "T1" ? "default" : id;
  c.expires_at_ms = expires_at_ms;
  return c;
}

/// One vault in a directory of its own.
struct VaultRig {
  support::Scratch scratch;
  DrivenClock clock;
  std::unique_ptr<GroupCommit> store;
  std::unique_ptr<Vault> vault;

  VaultRig() { open(); }
  void open() {
    vault.reset();
    store.reset();
    std::filesystem::create_directory(scratch.path() / "data");
    store = std::make_unique<GroupCommit>(scratch.path() / "data/kruxos.db", kLedgerKind);
    vault = std::make_unique<Vault>(
        *store, clock,
        VaultOptions{scratch.path() / "keys/vault.key", scratch.path() / "data", VaultMode::kKeyFile, {}});
  }
  std::string access(const std::string& id = "T1") {
    const auto token = vault->token("notes", id, 1);
    return token ? std::string(token->reveal()) : "";
  }
  std::string refresh(const std::string& id = "T1") {
    return std::string(vault->credential("notes", id, 1)->refresh_token.reveal());
  }
  std::int64_t expires_at(const std::string& id = "T1") {
    for (const auto& c : vault->connections()) {
      if (c.account_id == id) return c.expires_at_ms;
    }
    return -1;
  }
};

}  // namespace krux::test
