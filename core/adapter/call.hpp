// One call into an adapter, from the host's side: cancellation, deadline, the first word of a failure, and the host's
// own record of what went over the wire.
#pragma once

#include <kruxos/abi/call.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/adapter/lane.hpp"
#include "core/adapter/read_dialogue.hpp"
#include "core/util/clock.hpp"
#include "core/util/error_type.hpp"

namespace krux {

/// What the host knows of the wire during one call, worst first. "Safe" requests (GET, HEAD, OPTIONS) never count.
enum class WireState {
  kNothingSent,  ///< not one byte of an unsafe request was given to a socket: certainly no effect
  kAnswered,     ///< every unsafe request got a complete answer below 500: the adapter's word counts
  kOpen,         ///< an unsafe request was sent and not answered so: the effect may have happened
};

/// Why a call failed. `effect_none` only where the effect certainly did not happen, by the worse of both words.
struct CallFailure {
  krux_status status = KRUX_INTERNAL;
  bool effect_none = false;
  ErrorType type;       ///< none: the status says it all
  std::string message;  ///< a sentence
  std::optional<std::int64_t> retry_after_ms;
};

template <class T>
using CallResult = std::variant<T, CallFailure>;

/// What a call may send. Reads of the replica send nothing; those whose definition says so send what is safe.
enum class Sends { kAnything, kSafe, kNothing };

/// Identifies whose call it is. account_id is empty while a connection is being verified.
struct CallOwner {
  std::string service, account_id;
  std::uint32_t generation = 0;
  std::string write_id;  ///< empty when the call belongs to no write
  std::uint32_t attempt = 0;
  Sends sends = Sends::kAnything;
  std::string agent{};  ///< the id of whose read or write it is; empty: no agent's
};

/// Shared by whoever started the call, the adapter's thread and HttpClient; alive until the last of them lets go, so
/// that an abandoned call can go on touching it. All members may be called from any thread.
class CallContext {
 public:
  /// Keeps a note in the ledger, durable on return; false when it could not be kept.
  using Remember = std::function<bool(std::string_view note_json)>;

  CallContext(CallOwner owner, const Clock& clock, std::int64_t deadline_boot_ms, Remember remember = {});

  const CallOwner& owner() const { return owner_; }
  const Clock& clock() const { return clock_; }
  std::int64_t deadline_boot_ms() const { return deadline_boot_ms_; }
  std::int64_t left_ms() const;  ///< until the deadline, never below 0

  /// Asks the call to end. Callbacks of on_cancel() run once, on this thread.
  void cancel();
  /// Cancelled, ended, or past its deadline.
  bool cancelled() const;

  /// Ends the call: later sends are refused, later output and failures are dropped. Returns what was on the wire by
  /// then; no request can begin after this returns. Cancels too. Idempotent.
  WireState end();
  bool ended() const;
  WireState wire() const;

  /// Called by HttpClient before it gives the first byte of an unsafe request to a socket. False: the call has ended or
  /// was cancelled, do not send. A true answer must be followed by request_answered() when a complete answer below 500
  /// arrived.
  bool begin_unsafe_request();
  void request_answered();

  /// Called by HttpClient for each request of any kind that it lets out.
  void note_request() { ++requests_; }
  std::uint32_t requests() const { return requests_; }

  /// NULs, halves of surrogate pairs and invalid bytes of the adapter's answer that have become U+FFFD.
  void note_replaced(std::uint64_t count) { replaced_ += count; }
  std::uint64_t replaced() const { return replaced_; }

  /// The first word counts.
  void fail(CallFailure failure);
  std::optional<CallFailure> failure() const;

  bool remember(std::string_view note_json);

  /// Of a read; before it begins.
  void converse(std::shared_ptr<const ReadDialogue> dialogue) { dialogue_ = std::move(dialogue); }
  /// Null: there is nobody to speak to.
  const ReadDialogue* dialogue() const { return dialogue_.get(); }
  /// The read ends with these; the first ones count. KRUX_UNSUPPORTED without a dialogue, KRUX_CANCELLED when it has
  /// ended.
  krux_status ask(AskedInput input);
  std::optional<AskedInput> asked() const;

  /// Called by HttpClient around what the call waits for, on any thread, several at a time: see Away.
  void begin_away(CallAway why);
  void end_away(CallAway why);
  /// Told of each change, one at a time: why the call does not compute, a wait for quota before anything else; nothing:
  /// it does. Set by the runner before the call begins; must not call back.
  void on_away(std::function<void(std::optional<CallAway>)> told);

  /// The adapter's process has ended, or could not be asked: that this call returns says nothing of whether the adapter
  /// comes back from its calls.
  void note_cut_off() { cut_off_ = true; }
  bool cut_off() const { return cut_off_; }

  /// Runs `callback` when the call is cancelled or ended, at once if it already is. Returns a token for
  /// drop_on_cancel(), after which the callback neither runs nor is running.
  std::uint64_t on_cancel(std::function<void()> callback);
  void drop_on_cancel(std::uint64_t token);

 private:
  WireState wire_locked() const;
  void tell_of_away();
  void run_callbacks();

  const CallOwner owner_;
  const Clock& clock_;
  const std::int64_t deadline_boot_ms_;
  const Remember remember_;
  std::shared_ptr<const ReadDialogue> dialogue_;
  std::atomic<bool> cancelled_{false}, ended_{false}, cut_off_{false};
  std::atomic<std::uint32_t> requests_{0};
  std::atomic<std::uint64_t> replaced_{0};
  mutable std::mutex mutex_;  ///< never held while a callback runs
  std::uint32_t open_requests_ = 0;
  std::mutex away_mutex_;      ///< held while on_away's callback runs
  std::array<int, 2> away_{};  ///< by CallAway: so many requests
  std::optional<CallAway> told_away_;
  std::function<void(std::optional<CallAway>)> on_away_;
  bool any_sent_ = false;
  std::optional<CallFailure> failure_;
  std::optional<AskedInput> asked_;
  struct Callback {
    std::uint64_t token = 0;
    std::function<void()> run;
  };
  std::vector<Callback> callbacks_;
  std::uint64_t next_token_ = 1;
  std::recursive_mutex callback_mutex_;  ///< held while callbacks run, taken before mutex_; a callback may drop itself
};

using CallContextPtr = std::shared_ptr<CallContext>;

/// A wait of a request, as CallContext is told of it.
class Away {
 public:
  Away(CallContext& call, CallAway why) : call_(call), why_(why) { call_.begin_away(why_); }
  ~Away() { call_.end_away(why_); }
  Away(const Away&) = delete;
  Away& operator=(const Away&) = delete;

 private:
  CallContext& call_;
  const CallAway why_;
};

/// The worse of what the adapter said and what the wire shows: a failure that claims "no effect" while an unsafe
/// request is open loses that claim; one that says nothing gains it when nothing was sent.
CallFailure judge(CallFailure said, WireState wire);

}  // namespace krux
