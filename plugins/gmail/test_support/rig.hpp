// The adapter between a host and a Gmail that are both in memory: the emulator's mailbox behind the fake host's HTTP.
#pragma once

#include <functional>
#include <kruxos/testing.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../api_client.hpp"
#include "../model.hpp"
#include "../sync.hpp"
#include "emulators/gmail/testing.hpp"

namespace emu = krux::test::gmail;

namespace gmail {

class Rig {
 public:
  /// `token`: as the emulator takes it; all scopes unless it names some.
  explicit Rig(SyncOptions options = {}, const std::string& token = emu::kToken);

  kruxos::testing::FakeHost host;
  kruxos::testing::FakeStore store{host.clock, collections()};
  emu::Emulated gmail;
  ApiClient client{host.host().http()};
  SyncOptions options;

  /// Asked before the emulator: an answer of its own, or nothing. `url` as the adapter gives it.
  std::function<std::optional<kruxos::testing::FakeAnswer>(const kruxos::testing::FakeRequest& request)>
      override_answer;

  emu::Mailbox& mailbox() { return gmail.state.mailbox(); }
  /// A mail arrives, one second later; returns its id.
  std::string arrive(const std::string& subject, const std::vector<std::string>& labels = {"INBOX", "UNREAD"});
  std::vector<std::string> arrive_many(int count);
  /// As a person changes labels, or deletes for good.
  void modify(const std::string& id, const std::vector<std::string>& add, const std::vector<std::string>& remove);
  void erase(const std::string& id);

  /// A new instance of the adapter on the same store, as after a kill.
  void restart();
  /// One step, as the host runs it. Throws what the step threw.
  kruxos::SyncStep step();
  /// Steps until the pass is done, waiting where it says so.
  kruxos::SyncStep pass();
  /// The next pass, when it is due.
  kruxos::SyncStep next_pass(std::int64_t after_ms = 120'000);

  /// What the replica should have and has not, and what it has and should not: "" when they are the same.
  std::string differences();
  std::optional<Message> replica(const std::string& id) const;
  std::size_t replica_size() const { return store.rows(kMessages).size(); }

  /// How many requests since the last reset_calls() have this in their address.
  std::size_t calls(const std::string& part) const;
  /// Of those, the ones for a message.
  std::size_t gets() const { return calls("?format=full"); }
  void reset_calls() { host.requests.clear(); }
  /// How often a full pass was begun.
  std::size_t full_passes() const { return calls("users/me/profile?"); }

 private:
  kruxos::testing::FakeAnswer answer(const kruxos::testing::FakeRequest& request);
  std::string token_;
  std::unique_ptr<Sync> sync_;
  std::int64_t mails_ = 0;
};

emu::Id id_of(const std::string& hex);
std::string hex_of(emu::Id id);

}  // namespace gmail
