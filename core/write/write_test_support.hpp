// A whole write path in one process: real store and threads, a scripted adapter, a driven clock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/adapter/adapter_test_support.hpp"
#include "core/adapter/call_runner.hpp"
#include "core/storage/group_commit.hpp"
#include "core/util/clock.hpp"
#include "core/write/enhanced_write_executor.hpp"
#include "core/write/ledger.hpp"
#include "core/write/write_buffer.hpp"
#include "support/scratch.hpp"

namespace write_test {

using namespace krux;

inline const AccountRef kAccount{"notes", "N1", 1};

/// An unsafe request that is answered below 500.
inline void answered_request(const CallContextPtr& call) {
  if (call->begin_unsafe_request()) call->request_answered();
}

/// Each hook may be replaced before calls begin; unset ones succeed (find_effect: cannot tell).
struct ScriptedAdapter final : test::RefusingAdapter {
  std::function<CallResult<std::string>(const CallContextPtr&, const AdapterWrite&)> on_execute;
  std::function<CallResult<EffectFound>(const CallContextPtr&, const AdapterWrite&)> on_find;
  std::function<CallResult<std::string>(const CallContextPtr&, const AdapterWrite&)> on_point;
  std::function<CallResult<std::string>(const CallContextPtr&, const RollbackRequest&)> on_rollback;
  std::function<CallResult<EffectFound>(const CallContextPtr&, const RollbackRequest&)> on_find_rollback;
  std::function<CallResult<bool>(const CallContextPtr&, const AdapterWrite&)> on_clean_up;
  bool can_undo = true;

  using test::RefusingAdapter::answer;
  AdapterRoles roles() const override { return {false, false, true, true, false}; }
  CallResult<std::string> answer(Fn<"execute_write">, const CallContextPtr& call, const AdapterWrite& write) override {
    if (on_execute) return on_execute(call, write);
    answered_request(call);
    return std::string(R"({"ok":true})");
  }
  CallResult<EffectFound> answer(Fn<"find_effect">, const CallContextPtr& call, const AdapterWrite& write) override {
    return on_find ? on_find(call, write) : EffectFound{};
  }
  CallResult<bool> answer(Fn<"supports_rollback">, const CallContextPtr&, std::string_view) override {
    return can_undo;
  }
  CallResult<std::string> answer(Fn<"create_rollback_point">, const CallContextPtr& call,
                                 const AdapterWrite& write) override {
    return on_point ? on_point(call, write) : std::string(R"({"before":1})");
  }
  CallResult<std::string> answer(Fn<"rollback">, const CallContextPtr& call, const RollbackRequest& request) override {
    if (on_rollback) return on_rollback(call, request);
    answered_request(call);
    return std::string(R"({"status":"ok"})");
  }
  CallResult<EffectFound> answer(Fn<"find_rollback">, const CallContextPtr& call,
                                 const RollbackRequest& request) override {
    return on_find_rollback ? on_find_rollback(call, request) : EffectFound{};
  }
  CallResult<bool> answer(Fn<"clean_up">, const CallContextPtr& call, const AdapterWrite& write) override {
    if (on_clean_up) return on_clean_up(call, write);
    answered_request(call);
    return true;
  }
};

inline CapabilityDefinition operation(const std::string& name, bool undoable = false, bool harmless = false) {
  CapabilityDefinition c;
  c.name = name;
  c.kind = CapabilityKind::kWrite;
  c.undoable = undoable;
  c.harmless_to_repeat = harmless;
  return c;
}

inline std::shared_ptr<ServiceDefinition> notes_definition() {
  auto d = std::make_shared<ServiceDefinition>();
  d->service = "notes";
  d->api_base_url = "https://notes.example/";
  d->capabilities = {operation("notes.add"), operation("notes.move", true), operation("notes.tag", false, true),
                     operation("notes.post")};
  return d;
}

inline ActiveAccountPtr account_of(std::shared_ptr<ServiceAdapter> adapter,
                                   std::shared_ptr<ServiceDefinition> definition, AccountRef ref = kAccount) {
  auto account = std::make_shared<ActiveAccount>();
  account->ref = std::move(ref);
  account->definition = std::move(definition);
  account->adapter = std::move(adapter);
  account->health = std::make_shared<AdapterHealth>();
  return account;
}

inline NewWrite new_write(const std::string& text, const std::string& operation = "notes.add") {
  NewWrite w;
  w.agent_id = "agent_1";
  w.account = kAccount;
  w.operation = operation;
  w.params_json = R"({"text":")" + text + "\"}";
  w.summary = text;
  w.tier = "notify";
  w.definition_version = "1";
  w.when_absent = "ask";
  w.leaves_something = operation == "notes.post";
  if (operation == "notes.move") w.rollback_ms = 24 * 3'600'000;  // as the definition below has it
  return w;
}

/// Waits for the one answer of an asynchronous call.
template <class T>
class Answer {
 public:
  std::function<void(std::variant<T, Error>)> slot() {
    return [shared = shared_](std::variant<T, Error> answer) { shared->set_value(std::move(answer)); };
  }
  std::variant<T, Error> wait() { return shared_->get_future().get(); }
  T value() { return std::get<T>(wait()); }
  Error error() { return std::get<Error>(wait()); }

 private:
  std::shared_ptr<std::promise<std::variant<T, Error>>> shared_ =
      std::make_shared<std::promise<std::variant<T, Error>>>();
};

/// What changes tell; lets a test wait for a state instead of for a time.
class Changes {
 public:
  void saw(const WriteRecord& write) {
    const std::lock_guard lock(mutex_);
    all_.push_back(write);
    latest_[write.write_id] = write;
    cv_.notify_all();
  }
  /// The first state of the write that fits, from now on or its latest. Gives up after half a minute of real time.
  std::optional<WriteRecord> until(const std::string& id, const std::function<bool(const WriteRecord&)>& fits) {
    std::unique_lock lock(mutex_);
    const auto there = [&] {
      const auto at = latest_.find(id);
      return at != latest_.end() && fits(at->second);
    };
    if (!cv_.wait_for(lock, std::chrono::seconds(30), there)) return std::nullopt;
    return latest_[id];
  }
  std::vector<WriteState> path(const std::string& id) {
    const std::lock_guard lock(mutex_);
    std::vector<WriteState> states;
    for (const auto& w : all_) {
      if (w.write_id == id) states.push_back(w.state);
    }
    return states;
  }

 private:
  std::mutex mutex_;
  std::condition_variable cv_;
  std::vector<WriteRecord> all_;
  std::map<std::string, WriteRecord> latest_;
};

/// A run of the host. Several may follow each other on one directory.
struct Host {
  explicit Host(const std::filesystem::path& directory, DrivenClock& driven, ExecutorOptions options = {},
                const std::string& boot_id = "boot-1")
      : clock(driven),
        store(directory / "kruxos.db", kLedgerKind),
        buffer(store, clock, boot_id),
        runner(clock, {}),
        executor(store, buffer.ledger, accounts, runner, clock, steady(std::move(options))) {}
  ~Host() { executor.stop(5000); }

  static ExecutorOptions steady(ExecutorOptions options) {
    if (!options.retry.random) options.retry.random = [] { return 0.5; };  // no jitter
    return options;
  }
  void serve(const std::shared_ptr<ScriptedAdapter>& adapter) {
    accounts.publish(account_of(adapter, notes_definition()));
    executor.start();
  }
  WriteRecord submit(NewWrite write) {
    Answer<Submitted> answer;
    buffer.ledger.submit(std::move(write), answer.slot());
    return answer.value().write;
  }
  std::variant<WriteRecord, Error> cancel(const std::string& id, const std::string& agent = "agent_1") {
    Answer<WriteRecord> answer;
    buffer.ledger.cancel(id, agent, "agent:" + agent, answer.slot());
    return answer.wait();
  }
  std::variant<Submitted, Error> roll_back(const std::string& id, bool force = false, const std::string& agent = {}) {
    Answer<Submitted> answer;
    buffer.ledger.roll_back(id, agent, force, agent.empty() ? "operator:ann" : "agent:" + agent, answer.slot());
    return answer.wait();
  }
  std::variant<WriteRecord, Error> resolve(const std::string& id, WriteEvent decision) {
    Answer<WriteRecord> answer;
    buffer.ledger.decide_outcome(id, decision, {}, "operator:ann", answer.slot());
    return answer.wait();
  }
  /// Waits for the state, without the clock moving; fails the calling expression otherwise.
  WriteRecord until(const std::string& id, WriteState state) {
    auto found = changes.until(id, [&](auto& w) { return w.state == state; });
    if (!found) throw std::runtime_error("write never became " + std::string(to_string(state)));
    return *found;
  }
  WriteRecord until_told(const std::string& id) {
    auto found = changes.until(id, [&](auto& w) { return w.escalated; });
    if (!found) throw std::runtime_error("nobody was told of the write");
    return *found;
  }
  /// Waits until calls have ended and the executor has gone to sleep on the driven clock.
  void quiet() {
    for (int i = 0; i < 30'000 && (executor.in_flight() > 0 || !executor.asleep()); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  DrivenClock& clock;
  Changes changes;
  AccountDirectory accounts;
  GroupCommit store;
  WriteBuffer buffer;
  Ledger::Observation observed = buffer.ledger.observe([this](const WriteRecord& w) { changes.saw(w); });
  CallRunner runner;
  EnhancedWriteExecutor executor;
};

}  // namespace write_test
