// kruxos/testing/workbench.hpp - an adapter with everything a host lends it, called as a host calls it.
#pragma once
#include <kruxos/adapter/tables.hpp>
#include <kruxos/testing/host.hpp>
#include <kruxos/testing/json_check.hpp>
#include <kruxos/testing/store.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kruxos::testing {

/// A write as the ledger would hold it. execute() fills in what the ledger learns.
struct FakeWrite {
  std::string operation, params_json;
  std::string write_id = "w_1";
  std::string note_json{}, point_json{};  ///< what the adapter remembered; its rollback point
  std::uint32_t attempt = 0;              ///< of the last execute(), from 1
  std::int64_t created_at_ms = 0, first_attempt_at_ms = 0;

  BufferedWrite lent() const {
    return {write_id, operation, params_json, note_json, point_json, attempt, created_at_ms, first_attempt_at_ms};
  }
};

/// What the host makes of an attempt, by the worse of the adapter's word and its own record of the wire.
enum class Outcome {
  kDone,     ///< completed
  kRefused,  ///< certainly not done, and of no use to try again: the write has failed
  kRetried,  ///< certainly not done: tried again later
  kUnknown,  ///< may be done: find_effect() looks
};

struct Attempt {
  Outcome outcome = Outcome::kUnknown;
  std::string result_json;                   ///< with kDone
  std::optional<FakeCall::Failure> failure;  ///< what the adapter failed with
  std::string why;                           ///< with an outcome that the adapter's own words do not explain
};

/// One adapter, made as the host makes it (`Adapter` is the class given to KRUXOS_PLUGIN), and its replica. Functions
/// of roles that it lacks do not compile. A function that fails throws the ProxyError that the host would get, with
/// what the host itself had to say in `store.refusals`.
template <class Adapter>
class Workbench {
 public:
  /// `settings_json`: what the operator has set of the account.
  explicit Workbench(std::string config_json = "{}", std::string settings_json = "{}")
      : account_{"account-1", 1, "", std::move(config_json), host.api_base_url, std::move(settings_json)} {
    restart();
  }

  FakeHost host;
  FakeStore store{host.clock, collections()};
  std::string agent = "agent_1";  ///< whose reads and writes they are
  std::int64_t last_sync_ms = 0;  ///< end of the last complete pass; 0: none, so that sync() makes a full one

  /// A new instance on the same replica, as after the host was killed.
  void restart() {
    store.drop_uncommitted();
    adapter_.reset();
    adapter_ = std::make_unique<Adapter>(host.host(), account_);
  }
  Adapter& adapter() { return *adapter_; }

  /// One step of a full pass. What it did not commit is dropped.
  SyncStep full_step() {
    return step([&](const Call& call, SyncStore& to) { return adapter_->full_sync(call, to); });
  }
  SyncStep incremental_step() {
    return step([&](const Call& call, SyncStore& to) { return adapter_->incremental_sync(call, to, last_sync_ms); });
  }
  /// A pass as the host makes it: full where none was completed, else incremental; a full one instead where the cursor
  /// has expired. Throws where it does not end in 10,000 steps.
  void sync() {
    if (last_sync_ms == 0) return full_pass();
    try {
      pass([&] { return incremental_step(); });
    } catch (const ProxyError& e) {
      if (e.kind() != ErrorKind::kCursorExpired) throw;
      store.cursors.clear();
      full_pass();
    }
  }

  /// Answers a read capability from the replica; it may not send anything.
  std::string read(std::string_view capability, std::string_view params_json) {
    return answer(CallKind::kRead, capability, params_json);
  }
  /// One whose definition says `fetches`.
  std::string fetch(std::string_view capability, std::string_view params_json) {
    return answer(CallKind::kFetch, capability, params_json);
  }
  std::string resolve(std::string_view operation, std::string_view params_json) {
    FakeCall call(host.clock, CallKind::kRead);
    call.set_agent(agent);
    return object(adapter_->resolve(call.call(), store.reader(), operation, params_json), "the resolved parameters");
  }

  /// One attempt: the rollback point first (of the first attempt, where there is one), then execute_write.
  Attempt execute(FakeWrite& write) {
    ++write.attempt;
    if (write.created_at_ms == 0) write.created_at_ms = host.clock.now_ms;
    if constexpr (std::is_base_of_v<RollbackCapable, Adapter>) {
      if (write.attempt == 1 && adapter_->supports_rollback(write.operation)) {
        FakeCall call(host.clock, CallKind::kAny, write.write_id, write.attempt);
        call.set_agent(agent);
        auto point = attempt(call, [&] { return adapter_->create_rollback_point(call.call(), write.lent()); });
        if (point.outcome != Outcome::kDone) return point;
        write.point_json = point.result_json;
      }
    }
    if (write.first_attempt_at_ms == 0) write.first_attempt_at_ms = host.clock.now_ms;
    FakeCall call(host.clock, CallKind::kWrite, write.write_id, write.attempt);
    call.set_agent(agent);
    auto ended = attempt(call, [&] { return adapter_->execute_write(call.call(), write.lent()); });
    if (!call.notes.empty()) write.note_json = call.notes.back();
    return ended;
  }
  /// A failed look is one that cannot tell.
  EffectFound find_effect(const FakeWrite& write) {
    return look([&](const Call& call) { return adapter_->find_effect(call, write.lent()); }, write);
  }

  Attempt rollback(const FakeWrite& write, std::string_view result_json, bool force = false) {
    FakeCall call(host.clock, CallKind::kWrite);
    call.set_agent(agent);
    return attempt(call, [&] { return adapter_->rollback(call.call(), undo_of(write, result_json, force)); });
  }
  EffectFound find_rollback(const FakeWrite& write, std::string_view result_json) {
    return look([&](const Call& call) { return adapter_->find_rollback(call, undo_of(write, result_json, false)); },
                write);
  }

  /// Takes away what the attempts of a write have left that will not be carried out.
  Attempt clean_up(const FakeWrite& write) {
    FakeCall call(host.clock, CallKind::kWrite);
    call.set_agent(agent);
    return attempt(call, [&] {
      adapter_->clean_up(call.call(), write.lent());
      return std::string("{}");
    });
  }

  Identity verify() {
    const FakeCall call(host.clock);
    return adapter_->verify(call.call());
  }
  void revoke() {
    const FakeCall call(host.clock);
    adapter_->revoke(call.call());
  }

 private:
  static std::vector<Collection> collections() {
    if constexpr (kruxos::detail::Described<Adapter>) return Description(Adapter::describe()).collections;
    return {};
  }
  static RollbackRequest undo_of(const FakeWrite& write, std::string_view result_json, bool force) {
    return {"rb_1", write.operation, write.params_json, write.point_json, result_json, force};
  }
  static std::string object(std::string json, const std::string& what) {
    const auto problem = detail::json_object_problem(json, 8 << 20);
    if (!problem.empty())
      throw std::runtime_error(what + " is refused by the host: " + problem + ": " + json.substr(0, 200));
    return json;
  }

  template <class Body>
  SyncStep step(Body body) {
    const FakeCall call(host.clock);
    auto lent = store.store();
    struct Drop {
      FakeStore& store;
      ~Drop() { store.drop_uncommitted(); }
    } drop{store};
    return body(call.call(), lent);
  }
  template <class Step>
  void pass(Step step) {
    for (int steps = 0; steps < 10'000; ++steps) {
      const auto came = step();
      if (came.next == KRUX_SYNC_WAIT) host.clock.advance(came.wait_ms);
      if (came.next != KRUX_SYNC_DONE) continue;
      last_sync_ms = host.clock.now_ms;
      return;
    }
    throw std::runtime_error("The pass has not ended after 10,000 steps.");
  }
  void full_pass() {
    pass([&] { return full_step(); });
  }

  std::string answer(CallKind kind, std::string_view capability, std::string_view params_json) {
    FakeCall call(host.clock, kind);
    call.set_agent(agent);
    const auto reader = kind == CallKind::kFetch ? store.fetching_reader() : store.reader();
    return object(adapter_->read(call.call(), reader, capability, params_json), "the answer");
  }

  template <class Body>
  EffectFound look(Body body, const FakeWrite& write) {
    FakeCall call(host.clock, CallKind::kAny, write.write_id, write.attempt);
    call.set_agent(agent);
    EffectFound found;
    const auto status = kruxos::detail::guard(call.abi(), [&] { found = body(call.call()); });
    return status == KRUX_OK ? found : EffectFound::cannot_tell();
  }

  template <class Body>
  static Attempt attempt(FakeCall& call, Body body) {
    Attempt ended;
    const auto status = kruxos::detail::guard(call.abi(), [&] { ended.result_json = body(); });
    const auto wire = call.wire();
    if (status != KRUX_OK) {
      ended.failure = call.failure;
      const bool none =
          wire == Wire::kNothingSent || (wire == Wire::kAnswered && call.failure->effect == KRUX_EFFECT_NONE);
      const bool for_good = status == KRUX_REFUSED || status == KRUX_INVALID || status == KRUX_NOT_FOUND;
      ended.outcome = !none ? Outcome::kUnknown : for_good ? Outcome::kRefused : Outcome::kRetried;
      if (wire == Wire::kOpen)
        ended.why = "A request was sent and not answered: the host takes it that it may have happened.";
      return ended;
    }
    ended.why = wire == Wire::kOpen ? "It reports success, but a request of it was never answered."
                                    : detail::json_object_problem(ended.result_json, 8 << 20);
    if (ended.why.empty()) ended.outcome = Outcome::kDone;
    return ended;
  }

  const Account account_;
  std::unique_ptr<Adapter> adapter_;
};

}  // namespace kruxos::testing
