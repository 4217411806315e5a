#include "core/write/write_calls.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

#include "core/util/error.hpp"
#include "core/util/fault_point.hpp"
#include "core/util/json.hpp"

namespace krux {
namespace {

/// Between a call's body and its end. An abandoned body may still write its answer, which nobody reads then.
template <class T>
struct Slot {
  /// The body enters, or the end bars it: exactly one. A body that was given up before it began never calls the
  /// adapter.
  bool enter() { return claim(1); }
  bool bar() { return claim(2); }
  std::optional<CallResult<T>> answer;

 private:
  bool claim(int by) {
    int free = 0;
    return taken_.compare_exchange_strong(free, by);
  }
  std::atomic<int> taken_{0};
};

/// What is closed is at its second attempt at least: of what goes out of a copy the original may have made the first.
std::uint32_t attempt_shown(const WriteRecord& w) {
  return w.irrevocable ? std::max(w.attempts, 2U) : w.attempts;
}

/// A first look and a look at a copy presume nothing: neither that a note in the row is still true, nor that this host
/// made the only attempts.
AdapterWrite shown_to_adapter(const WriteRecord& w) {
  if (w.reconcile_first)
    return {w.write_id, w.operation, w.params_json, {}, w.point_json, 0, w.created_at_ms, w.created_at_ms};
  return {w.write_id,   w.operation,      w.params_json,   w.note_json,
          w.point_json, attempt_shown(w), w.created_at_ms, w.first_attempt_at_ms};
}

RollbackRequest request_of(const WriteCall& call) {
  const auto& undone = *call.subject;
  return {call.write.write_id, undone.operation,   undone.params_json,
          undone.point_json,   undone.result_json, is_forced(call.write)};
}

CallResult<std::string> execute(const WriteCall& call) {
  auto& adapter = *call.account->adapter;
  if (!call.write.rolls_back.empty()) return adapter.ask<"rollback">(call.context, request_of(call));
  if (call.write.cleans.empty()) return adapter.ask<"execute_write">(call.context, shown_to_adapter(call.write));
  auto cleaned = adapter.ask<"clean_up">(call.context, shown_to_adapter(*call.subject));
  if (auto* failure = std::get_if<CallFailure>(&cleaned)) return std::move(*failure);
  return std::string(R"({"status":"ok"})");
}

CallResult<EffectFound> look(const WriteCall& call) {
  auto& adapter = *call.account->adapter;
  if (call.write.rolls_back.empty()) return adapter.ask<"find_effect">(call.context, shown_to_adapter(call.write));
  auto answer = adapter.ask<"find_rollback">(call.context, request_of(call));
  // That it is undone is all that a look at an undo can tell.
  if (auto* found = std::get_if<EffectFound>(&answer)) found->result_json = R"({"status":"ok"})";
  return answer;
}

template <class T>
CallEnd end_of(const WriteCall& call, CallRunner::End how, Slot<T>& slot) {
  CallEnd end;
  end.wire_counts = call.account->acts_by_http;
  end.host_stops = call.context->left_ms() > 0 && call.context->cancelled();
  end.cut_off = call.context->cut_off();
  end.wire = call.context->end();
  if (how == CallRunner::End::kReturned && slot.answer) {
    end.how = CallEnd::How::kAnswered;
    if (auto* failure = std::get_if<CallFailure>(&*slot.answer)) end.failure = std::move(*failure);
  } else if (slot.bar()) {
    end.how = CallEnd::How::kNotRun;
    end.failure = call.context->failure();
    if (!end.failure) end.failure = CallFailure{KRUX_TIMEOUT, true, {}, "The call waited for a worker too long.", {}};
  }
  return end;
}

template <class T>
T value_of(Slot<T>& slot, const CallEnd& end) {
  const bool has = end.how == CallEnd::How::kAnswered && !end.failure;
  return has ? std::move(std::get<T>(*slot.answer)) : T{};
}

CallResult<std::string> make_rollback_point(const WriteCall& call,
                                            const std::function<void(const std::string&)>& keep) {
  auto& adapter = *call.account->adapter;
  CallResult<std::string> answer = std::string();
  const auto supports = adapter.ask<"supports_rollback">(call.context, call.write.operation);
  if (const auto* failure = std::get_if<CallFailure>(&supports)) return *failure;
  const bool can_undo = std::get<bool>(supports);
  if (can_undo) {
    auto shown = shown_to_adapter(call.write);
    if (shown.attempt == 1) shown.first_attempt_at_ms = 0;
    answer = adapter.ask<"create_rollback_point">(call.context, shown);
  }
  const auto* point = std::get_if<std::string>(&answer);
  if (!point) return answer;
  if (can_undo && !is_json_object(*point)) {
    return CallFailure{KRUX_INTERNAL, true, {}, "The adapter's rollback point is not a JSON object.", {}};
  }
  try {
    keep(*point);
  } catch (const Error& e) {
    return CallFailure{KRUX_STORAGE, true, {}, e.what(), {}};
  }
  return answer;
}

}  // namespace

void start_rollback_point(CallRunner& runner, WriteCall call, std::function<void(const std::string&)> keep,
                          RollbackPointDone done) {
  const auto slot = std::make_shared<Slot<std::string>>();
  const auto shared = std::make_shared<const WriteCall>(std::move(call));
  runner.start(
      shared->context, shared->account->health,
      [slot, shared, keep = std::move(keep)] {
        if (slot->enter()) slot->answer = make_rollback_point(*shared, keep);
      },
      [slot, shared, done = std::move(done)](CallRunner::End how) {
        auto end = end_of(*shared, how, *slot);
        auto point = value_of(*slot, end);
        done(std::move(end), std::move(point));
      },
      {Lane::kWrite});
}

void start_execute(CallRunner& runner, WriteCall call, ExecuteDone done) {
  const auto slot = std::make_shared<Slot<std::string>>();
  const auto shared = std::make_shared<const WriteCall>(std::move(call));
  runner.start(
      shared->context, shared->account->health,
      [slot, shared] {
        if (!slot->enter()) return;
        KRUX_FAULT_POINT("write.execute.before_call");
        slot->answer = execute(*shared);
        KRUX_FAULT_POINT("write.execute.after_call");
      },
      [slot, shared, done = std::move(done)](CallRunner::End how) {
        auto end = end_of(*shared, how, *slot);
        end.result_json = value_of(*slot, end);
        done(std::move(end));
      },
      {Lane::kWrite});
}

void start_reconcile(CallRunner& runner, WriteCall call, LookDone done) {
  const auto slot = std::make_shared<Slot<EffectFound>>();
  const auto shared = std::make_shared<const WriteCall>(std::move(call));
  runner.start(
      shared->context, shared->account->health,
      [slot, shared] {
        if (slot->enter()) slot->answer = look(*shared);
      },
      [slot, shared, done = std::move(done)](CallRunner::End how) {
        auto end = end_of(*shared, how, *slot);
        auto found = value_of(*slot, end);
        done(std::move(end), std::move(found));
      },
      {Lane::kWrite});
}

}  // namespace krux
