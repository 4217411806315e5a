// A CapabilityHandler on a real store, real workers, a real replica and ledger; a scripted adapter, a driven clock.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/adapter/adapter_test_support.hpp"
#include "core/adapter/call_runner.hpp"
#include "core/capability/capability_handler.hpp"
#include "core/definition/definition_loader.hpp"
#include "core/replica/replica.hpp"
#include "core/state/agent_state.hpp"
#include "core/state/agents.hpp"
#include "core/state/sessions.hpp"
#include "core/storage/group_commit.hpp"
#include "core/util/json.hpp"
#include "core/write/enhanced_write_executor.hpp"
#include "core/write/write_buffer.hpp"
#include "support/scratch.hpp"

namespace handler_test {

using namespace krux;

inline const char* const kDefinition = R"(schema: 1
service: notes
display_name: Notes
description: Notes.
version: 1.0.0
adapter: {min_version: 0.1.0}
api_base_url: https://notes.example/
limits: [{operations: [notes.add], limit: 10, window: 1 h, per: title},
         {operations: [notes.stamp], limit: 2, window: 10 min}]
capabilities:
  - {name: notes.search, kind: read, tier: autonomous, purpose: Search., when_to_use: Often., tags: [read],
     required_scopes: [read], inputs: [{name: query, type: String, description: Text., default: ""}],
     outputs: [{name: notes, type: Array, description: Those found.}]}
  - {name: notes.fetch, kind: read, tier: autonomous, purpose: Fetch., when_to_use: Seldom., fetches: true, takes_long: true}
  - {name: notes.add, kind: write, tier: notify, purpose: Add., when_to_use: To keep., delay: 30 s, undoable: true,
     required_scopes: [write], summary: "{title}", tags: [write],
     inputs: [{name: title, type: String, description: Title., required: true},
              {name: room, type: String, description: Room.}]}
  - {name: notes.mark, kind: write, tier: autonomous, purpose: Mark., when_to_use: At once., delay: immediate,
     settle: 0 s, inputs: [{name: title, type: String, description: Title., required: true}]}
  - {name: notes.stamp, kind: write, tier: autonomous, purpose: Stamp., when_to_use: Seldom., delay: immediate,
     target: "{title}", inputs: [{name: title, type: String, description: Title., required: true}]}
  - {name: notes.plain, kind: write, tier: autonomous, purpose: Plain., when_to_use: Never.}
  - {name: notes.file, kind: write, tier: autonomous, purpose: File., when_to_use: Often., delay: 1 s,
     counts_as: [{input: tags, holds: [trash, junk], capability: notes.stamp},
                 {input: room, holds: [secret], capability: notes.wipe},
                 {input: room, holds: [board], capability: notes.ask}],
     inputs: [{name: tags, type: Array, description: Tags.}, {name: room, type: String, description: Room.}]}
  - {name: notes.ask, kind: write, tier: approval_required, purpose: Ask., when_to_use: Never.}
  - {name: notes.wipe, kind: write, tier: blocked, purpose: Wipe., when_to_use: Never.}
  - {name: notes.cancel, kind: cancel, tier: autonomous, purpose: Cancel., when_to_use: Before.}
recovery:
  NoteLocked: [{action: unlock, description: Unlock it first.}]
)";

using Text = CallResult<std::string>;

/// Hooks are set before calls begin.
struct FakeAdapter : test::RefusingAdapter {
  std::function<Text(const CallContextPtr&, std::string_view, std::string_view)> on_read, on_resolve;
  std::function<Text(const CallContextPtr&, const AdapterWrite&)> on_execute;
  std::function<Text(const CallContextPtr&, const RollbackRequest&)> on_rollback;
  std::function<Text(ReplicaReader&)> on_rows;  ///< in the place of on_read

  using test::RefusingAdapter::answer;
  AdapterRoles roles() const override { return {false, true, true, false, false}; }
  Text answer(Fn<"read">, const CallContextPtr& call, const ReaderPtr& reader, std::string_view capability,
              std::string_view params) override {
    if (!reader) return CallFailure{};
    if (on_rows) return on_rows(*reader);
    return on_read ? on_read(call, capability, params) : Text(std::string(R"({"notes":[]})"));
  }
  Text answer(Fn<"resolve">, const CallContextPtr& call, const ReaderPtr&, std::string_view operation,
              std::string_view params) override {
    return on_resolve ? on_resolve(call, operation, params) : Text(std::string(params));
  }
  Text answer(Fn<"execute_write">, const CallContextPtr& call, const AdapterWrite& write) override {
    return on_execute ? on_execute(call, write) : Text(std::string(R"({"id":"n1"})"));
  }
  CallResult<EffectFound> answer(Fn<"find_effect">, const CallContextPtr&, const AdapterWrite&) override {
    return EffectFound{};
  }
  CallResult<bool> answer(Fn<"supports_rollback">, const CallContextPtr&, std::string_view) override {
    return bool(on_rollback);
  }
  Text answer(Fn<"create_rollback_point">, const CallContextPtr&, const AdapterWrite&) override {
    return std::string("{}");
  }
  Text answer(Fn<"rollback">, const CallContextPtr& call, const RollbackRequest& request) override {
    return on_rollback(call, request);
  }
};

struct Host {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};
  WriteBuffer writes{store, clock, "boot-1"};
  AgentStore agents{store, clock};
  SessionStore sessions{store, clock};
  AlertStore alerts{store, clock};
  AgentState agent_state{store, clock, sessions};
  AccountDirectory accounts;
  CallRunner runner;
  EnhancedWriteExecutor executor{store, writes.ledger, accounts, runner, clock};
  std::shared_ptr<FakeAdapter> adapter = std::make_shared<FakeAdapter>();
  std::shared_ptr<AdapterHealth> health = std::make_shared<AdapterHealth>();
  std::shared_ptr<const ServiceDefinition> definition;
  std::shared_ptr<Replica> replica = std::make_shared<Replica>(
      scratch.path() / "replica.db", std::vector<CollectionSpec>{{"note", 1, CollectionSpec::Order::kTime, true, {}}},
      clock);
  CapabilityHandler handler;
  bool for_model = false;  ///< as calls over the Model Context Protocol

  explicit Host(HandlerOptions options = {}, CallRunner::Options workers = {},
                const std::string& definition_text = kDefinition)
      : runner(clock, workers),
        definition(std::make_shared<const ServiceDefinition>(parse_definition(definition_text, "notes.yaml"))),
        handler(accounts, runner, writes, {agents, sessions, alerts}, clock, with_state(std::move(options))) {
    accounts.set_services({{definition, "1.0.0"}});
  }
  ~Host() { executor.stop(5000); }

  HandlerOptions with_state(HandlerOptions options) {
    options.state = &agent_state;
    return options;
  }

  void connect(const std::string& id = "N1", const std::vector<std::string>& scopes = {"read", "write"},
               bool isolated = false) {
    auto account = std::make_shared<ActiveAccount>();
    account->ref = {"notes", id, 1};
    account->display_name = "Team " + id;
    account->scopes = scopes;
    account->scopes_known = true;
    account->isolated = isolated;
    account->definition = definition;
    account->adapter = adapter;
    account->health = health;
    account->replica = replica;
    accounts.publish(account);
  }

  std::future<InvocationResult> begin(const std::string& capability, const std::string& arguments = "{}",
                                      const std::string& agent = "agent_1", const std::string& key = "",
                                      const std::string& session = "sess_1") {
    const auto answered = std::make_shared<std::promise<InvocationResult>>();
    Invocation invocation{agent, "tester", session, capability, arguments, key, for_model};
    handler.invoke(std::move(invocation), [answered](InvocationResult r) { answered->set_value(std::move(r)); });
    return answered->get_future();
  }

  /// The answer as a document: {"data": ...} or {"error": ...}.
  JsonDocument call(const std::string& capability, const std::string& arguments = "{}",
                    const std::string& agent = "agent_1", const std::string& key = "") {
    return document(begin(capability, arguments, agent, key).get());
  }
  static JsonDocument document(const InvocationResult& r) {
    return parse_json(r.success ? "{\"data\":" + r.data_json + "}" : "{\"error\":" + r.error_json + "}", "answer");
  }

  /// Moves the clock while the call has not answered.
  InvocationResult answer_by_advancing(std::future<InvocationResult> future, std::int64_t step_ms) {
    while (future.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) clock.advance(step_ms);
    return future.get();
  }
};

// Of an answer: the error's type and message ("none" without an error), a text among the data.
inline std::string type_of(const JsonDocument& answer) {
  return answer.HasMember("error") ? answer["error"]["type"].GetString() : "none";
}
inline std::string message_of(const JsonDocument& answer) {
  return answer.HasMember("error") ? answer["error"]["message"].GetString() : "none";
}
inline std::string text_of(const JsonDocument& answer, const char* member) {
  return answer.HasMember("data") && answer["data"].HasMember(member) && answer["data"][member].IsString()
             ? answer["data"][member].GetString()
             : "missing";
}

}  // namespace handler_test
