// kruxos/testing/call.hpp - a driven clock, and the running call as a test makes it.
#pragma once
#include <kruxos/adapter/call.hpp>
#include <kruxos/testing/json_check.hpp>

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kruxos::testing {

/// Unix milliseconds, moved by the test (and by an answer that hangs).
struct FakeClock {
  std::int64_t now_ms = 1'700'000'000'000;
  void advance(std::int64_t ms) { now_ms += ms; }
};

/// What the call is for: decides which requests are a misuse.
enum class CallKind {
  kAny,    ///< nothing is checked but what holds for all calls
  kRead,   ///< a read of the replica: sends nothing
  kFetch,  ///< a read whose definition says `fetches`: sends safe requests (GET, HEAD, OPTIONS) alone
  kWrite,  ///< execute_write and rollback: sends no unsafe request twice; may remember notes when it has an attempt
};

/// What the host knows of a call's unsafe requests.
enum class Wire {
  kNothingSent,  ///< none: certainly no effect
  kAnswered,     ///< each got a complete answer below 500: the adapter's word counts
  kOpen,         ///< one was sent and not answered so: the effect may have happened
};

/// One running call; it ends with end() or with its life. The clock must outlive it. Sends may come from threads that
/// the adapter started and joins.
class FakeCall {
 public:
  explicit FakeCall(const FakeClock& clock, CallKind kind = CallKind::kAny, std::string write_id = {},
                    std::uint32_t attempt = 0)
      : clock_(clock), kind_(kind), write_id_(std::move(write_id)) {
    abi_.size = sizeof(krux_call);
    abi_.attempt = attempt;
    abi_.self = this;
    abi_.write_id = to_abi(write_id_);
    abi_.deadline_ms = clock.now_ms + 300'000;
    abi_.cancelled = &is_cancelled;
    abi_.fail = &fail;
    abi_.now_ms = &now;
    abi_.remember = &remember;
    abi_.progress = &progress;
    abi_.tell = &tell;
    abi_.ask = &ask;
    const std::lock_guard lock(live().mutex);
    live().calls.emplace(&abi_, this);
  }
  ~FakeCall() { end(); }
  FakeCall(const FakeCall&) = delete;
  FakeCall& operator=(const FakeCall&) = delete;

  Call call() const noexcept { return Call(&abi_); }
  const krux_call* abi() const noexcept { return &abi_; }
  CallKind kind() const noexcept { return kind_; }
  /// By the clock; five minutes after the start unless set. Set it before the call is used.
  void set_deadline(std::int64_t deadline_ms) noexcept { abi_.deadline_ms = deadline_ms; }

  /// As when the host takes it that the call is over: whatever is sent with it from now on is refused.
  void end() {
    const std::lock_guard lock(live().mutex);
    live().calls.erase(&abi_);
  }
  /// The running call behind a table; nullptr when it has ended or never was. Any thread.
  static FakeCall* find(const krux_call* abi) {
    const std::lock_guard lock(live().mutex);
    const auto at = live().calls.find(abi);
    return at == live().calls.end() ? nullptr : at->second;
  }

  /// Whose call it is; nobody's unless set. Set it before the call is used.
  void set_agent(std::string agent) {
    agent_ = std::move(agent);
    abi_.agent = to_abi(agent_);
  }

  std::atomic<bool> cancelled = false;  ///< set it, and the adapter is asked to end
  std::vector<std::string> notes;       ///< what the adapter has remembered, in order
  struct Failure {
    krux_status status = KRUX_OK;
    std::int32_t effect = KRUX_EFFECT_MAYBE;
    std::string type, message;
    std::int64_t retry_after_ms = -1;
  };
  std::optional<Failure> failure;  ///< the first word of krux_call.fail

  /// Of a read: what whoever waits can be asked, and the answers to what it had asked before. Set it before the call is
  /// used.
  void set_answers(std::initializer_list<Ask> can_ask, std::string answers_json = {}, std::string state = {}) {
    answers_ = std::move(answers_json);
    state_ = std::move(state);
    for (const auto what : can_ask) abi_.can_ask |= static_cast<std::uint32_t>(what);
    abi_.answers_json = to_abi(answers_);
    abi_.state = to_abi(state_);
  }
  struct Asked {
    std::string questions_json, state;
  };
  std::optional<Asked> asked;  ///< what a read has ended with
  struct Progress {
    double done = 0, total = 0;
    std::string message;
  };
  std::vector<Progress> progressed;                     ///< in order
  std::vector<std::pair<TellLevel, std::string>> told;  ///< in order

  bool should_end() const { return cancelled || clock_.now_ms >= abi_.deadline_ms; }
  Wire wire() const { return sent_ == 0 ? Wire::kNothingSent : answered_ == sent_ ? Wire::kAnswered : Wire::kOpen; }
  /// For FakeHost: an unsafe request goes out, and was answered completely below 500.
  void note_sent() { ++sent_; }
  void note_answered() { ++answered_; }
  /// For FakeHost, under its lock: whether this unsafe request is new to the call.
  bool first_time(const std::string& request) { return requests_.insert(request).second; }

 private:
  struct Live {
    std::mutex mutex;
    std::map<const krux_call*, FakeCall*> calls;
  };
  static Live& live() {
    static Live all;
    return all;
  }
  static FakeCall& of(void* self) noexcept { return *static_cast<FakeCall*>(self); }
  static std::int32_t is_cancelled(void* self) noexcept { return of(self).should_end() ? 1 : 0; }
  static std::int64_t now(void* self) noexcept { return of(self).clock_.now_ms; }
  static void fail(void* self, const krux_failure* said) noexcept {
    const std::lock_guard lock(of(self).mutex_);
    auto& first = of(self).failure;
    if (first) return;
    first = Failure{said->status, said->effect, std::string(from_abi(said->type)), std::string(from_abi(said->message)),
                    said->retry_after_ms};
  }
  static krux_status remember(void* self, krux_str note) noexcept {
    if (of(self).kind_ != CallKind::kWrite || of(self).abi_.attempt == 0) return KRUX_UNSUPPORTED;
    const auto text = from_abi(note);
    if (text.size() > 64 * 1024 || !detail::JsonCheck(text, 32).problem(false).empty()) return KRUX_INVALID;
    const std::lock_guard lock(of(self).mutex_);
    of(self).notes.emplace_back(text);
    return KRUX_OK;
  }

  static void progress(void* self, double done, double total, krux_str message) noexcept {
    const std::lock_guard lock(of(self).mutex_);
    of(self).progressed.push_back({done, total, std::string(from_abi(message))});
  }
  static void tell(void* self, std::int32_t level, krux_str message) noexcept {
    const std::lock_guard lock(of(self).mutex_);
    of(self).told.emplace_back(static_cast<TellLevel>(level), from_abi(message));
  }
  static krux_status ask(void* self, krux_str questions, krux_str state) noexcept {
    if (of(self).kind_ == CallKind::kWrite) return KRUX_UNSUPPORTED;
    const auto text = from_abi(questions);
    if (text.size() > 64 * 1024 || state.len > 16 * 1024 || !detail::JsonCheck(text, 32).problem(true).empty())
      return KRUX_INVALID;
    const std::lock_guard lock(of(self).mutex_);
    if (!of(self).asked) of(self).asked = Asked{std::string(text), std::string(from_abi(state))};
    return KRUX_OK;
  }

  const FakeClock& clock_;
  const CallKind kind_;
  const std::string write_id_;
  std::string answers_, state_, agent_;
  std::mutex mutex_;
  std::set<std::string> requests_;
  std::atomic<int> sent_ = 0, answered_ = 0;
  krux_call abi_{};
};

}  // namespace kruxos::testing
