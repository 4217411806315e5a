// The adapter between a host and a Slack that are both in memory: the emulator's workspace behind the fake host's HTTP.
#pragma once

#include <functional>
#include <kruxos/testing.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../api_client.hpp"
#include "../model.hpp"
#include "../sync.hpp"
#include "emulators/slack/api.hpp"

namespace emu = krux::test::slack;

namespace slack {

class Rig {
 public:
  /// `token`: as the emulator takes it ("xoxb-test:channels:read,users:read"); all scopes without any.
  explicit Rig(SyncOptions options = {}, const std::string& token = "xoxb-test");

  kruxos::testing::FakeHost host;
  kruxos::testing::FakeStore store{host.clock, collections()};
  emu::State state;
  ApiClient client{host.host().http()};
  std::optional<Changes> changes;  ///< of the present instance

  /// Asked before the emulator: an answer of its own, or nothing.
  using Override =
      std::function<std::optional<kruxos::testing::FakeAnswer>(const std::string& method, const Params& params)>;
  Override override_answer;
  bool tells_date = true;
  std::int64_t service_ahead_ms = 0;  ///< of the host's clock

  emu::Workspace& workspace() { return *state.workspace; }
  /// A public channel that the bot is in.
  emu::Channel& add_channel(const std::string& id, const std::string& name);
  emu::Channel& channel(const std::string& id);
  /// Posts as a person, one second later; returns the ts.
  std::string say(const std::string& channel, const std::string& text, const std::string& thread_ts = "",
                  bool broadcast = false);
  void say_many(const std::string& channel, int count);
  emu::Message& message(const std::string& channel, const std::string& ts);
  void edit(const std::string& channel, const std::string& ts, const std::string& text);
  void erase(const std::string& channel, const std::string& ts);

  /// A new instance of the adapter on the same store, as after a kill.
  void restart();
  /// One step, as the host runs it. Throws what the step threw.
  kruxos::SyncStep step();
  /// Steps until the pass is done, waiting where it says so.
  kruxos::SyncStep pass();
  /// The next pass, when it is due.
  kruxos::SyncStep next_pass(std::int64_t after_ms = 60'000);

  /// What the replica should have and has not, and what it has and should not: "" when they are the same.
  std::string differences();
  std::optional<Message> replica(const std::string& channel, const std::string& ts) const;
  std::size_t replica_size() const { return store.rows(kMessages).size(); }

  std::size_t refused_for_rate = 0;  ///< how often the service itself said 429

  /// How often a method was asked for since the last reset_calls().
  std::size_t calls(const std::string& method) const;
  void reset_calls() { host.requests.clear(); }

  SyncOptions options;

 private:
  kruxos::testing::FakeAnswer answer(const kruxos::testing::FakeRequest& request);
  emu::Api api_;
  std::string token_;
  std::unique_ptr<Sync> sync_;
};

/// The parameters of a request.
Params params_of(const kruxos::testing::FakeRequest& request);
std::string param(const Params& params, const std::string& name);

}  // namespace slack
