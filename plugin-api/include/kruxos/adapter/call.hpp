// kruxos/adapter/call.hpp - the running call, and the edge at which exceptions become statuses.
#pragma once
#include <kruxos/abi/call.h>
#include <kruxos/abi/entry.h>
#include <kruxos/adapter/error.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace kruxos {

/// Borrows `text`: it must outlive the result's use.
inline krux_str to_abi(std::string_view text) noexcept {
  return {text.data(), text.size()};
}
/// As long-lived as the bytes of `text`.
inline std::string_view from_abi(krux_str text) noexcept {
  return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}

/// What a read may ask of the program that waits for it; each is the KRUX_ASK_ of the same name.
enum class Ask : std::uint32_t {
  kForm = KRUX_ASK_FORM,
  kUrl = KRUX_ASK_URL,
  kModel = KRUX_ASK_MODEL,
  kRoots = KRUX_ASK_ROOTS,
};

/// How much a message matters to whoever waits.
enum class TellLevel : std::int32_t {
  kDebug = KRUX_LOG_DEBUG,
  kInfo = KRUX_LOG_INFO,
  kWarn = KRUX_LOG_WARN,
  kError = KRUX_LOG_ERROR,
};

/// One running call. Borrowed: valid until the function that got it returns. Any thread that the function started and
/// joins may use it.
class Call {
 public:
  /// Borrows the host's table.
  explicit Call(const krux_call* call) noexcept : call_(call) {}

  /// True once the call should end: cancelled, past its deadline, or the host stops. Ask in loops.
  bool cancelled() const noexcept { return call_->cancelled(call_->self) != 0; }
  /// Throws kCancelled once the call should end.
  void throw_if_cancelled() const {
    if (cancelled()) throw ProxyError(ErrorKind::kCancelled, "The call was cancelled.");
  }

  /// The host's clock, Unix milliseconds. Tests drive it: compare with this one only. It may be set back.
  std::int64_t now_ms() const noexcept { return call_->now_ms(call_->self); }
  /// When the call is abandoned, by now_ms().
  std::int64_t deadline_ms() const noexcept { return call_->deadline_ms; }

  std::uint32_t attempt() const noexcept { return call_->attempt; }                 ///< 0 outside writes
  std::string_view write_id() const noexcept { return from_abi(call_->write_id); }  ///< empty outside writes

  /// The id of the agent that the call is for: of a read, and of all that is done for a write. Empty in what is no
  /// agent's, and of hosts before 1.4.
  std::string_view agent() const noexcept {
    return KRUX_HAS(krux_call, call_, agent) ? from_abi(call_->agent) : std::string_view();
  }

  /// In execute_write: keeps a note (JSON, at most 64 KiB) with the write, in the place of the one before. It is
  /// durable on return, and find_effect and later attempts get it. Throws when it could not be kept (kInvalid,
  /// kStorage, kCancelled; kUnsupported outside execute_write): then do not go on.
  void remember(std::string_view note_json) const {
    const auto status = call_->remember(call_->self, to_abi(note_json));
    if (status != KRUX_OK) {
      throw ProxyError(static_cast<ErrorKind>(status), "The host could not keep the note of this write.");
    }
  }

  // In read() alone, and of hosts since 1.3: elsewhere nothing can be asked, and what is told goes nowhere.

  /// Whether whoever waits can be asked that; see InputRequired (kruxos/adapter/ask.hpp).
  bool can_ask(Ask what) const noexcept {
    return KRUX_HAS(krux_call, call_, can_ask) && (call_->can_ask & static_cast<std::uint32_t>(what)) != 0;
  }
  /// Of a read that is called again with what it had asked for: the answers under the names of the questions, one JSON
  /// object; empty at first. kruxos/abi/call.h has each kind's form. They fit the questions, and are text of others.
  std::string_view answers_json() const noexcept {
    return KRUX_HAS(krux_call, call_, answers_json) ? from_abi(call_->answers_json) : std::string_view();
  }
  /// What InputRequired::state() was given; empty at first.
  std::string_view state() const noexcept {
    return KRUX_HAS(krux_call, call_, state) ? from_abi(call_->state) : std::string_view();
  }
  /// How far the read has come, in any unit; total 0: not known. What is not more than before is dropped.
  void progress(double done, double total = 0, std::string_view message = {}) const noexcept {
    if (KRUX_HAS(krux_call, call_, progress)) call_->progress(call_->self, done, total, to_abi(message));
  }
  /// A message for whoever waits, who sees it where he has asked for that level; cut at 4096 bytes. It is no line of
  /// the host's log, and never contains a credential.
  void tell(TellLevel level, std::string_view message) const noexcept {
    if (KRUX_HAS(krux_call, call_, tell)) call_->tell(call_->self, static_cast<std::int32_t>(level), to_abi(message));
  }

  /// The host's table, as long-lived as the call.
  const krux_call* raw() const noexcept { return call_; }

 private:
  const krux_call* call_;
};

namespace detail {

/// Throws what a function of the host has refused.
inline void check(krux_status status, const char* what) {
  if (status == KRUX_OK) return;
  throw ProxyError(static_cast<ErrorKind>(status), std::string("The host refused ") + what + ".");
}

/// Tells the host why the call fails.
inline void report(const krux_call* call, krux_status status, std::int32_t effect, std::string_view type,
                   std::string_view message, std::int64_t retry_after_ms) noexcept {
  const krux_failure failure{sizeof(krux_failure), status, effect, 0, to_abi(type), to_abi(message), retry_after_ms};
  call->fail(call->self, &failure);
}

/// Runs `body`. Whatever it throws becomes a failure and a status: nothing passes this edge.
template <class Body>
krux_status guard(const krux_call* call, Body&& body) noexcept {
  try {
    body();
    return KRUX_OK;
  } catch (const ProxyError& e) {
    const auto status = static_cast<krux_status>(e.kind());
    report(call, status, e.has_no_effect() ? KRUX_EFFECT_NONE : KRUX_EFFECT_MAYBE, e.type(), e.what(),
           e.retry_after_ms());
    return status;
  } catch (const std::exception& e) {
    report(call, KRUX_INTERNAL, KRUX_EFFECT_MAYBE, "", e.what(), -1);
  } catch (...) {
    report(call, KRUX_INTERNAL, KRUX_EFFECT_MAYBE, "", "The adapter threw something that is no std::exception.", -1);
  }
  return KRUX_INTERNAL;
}

/// Keeps what an author's callback throws while the host calls it, and throws it again on the author's side.
class Caught {
 public:
  /// Runs `body`, which says whether to go on; returns what the host understands: 0 to go on, 1 to stop.
  template <class Body>
  std::int32_t run(Body&& body) noexcept {
    try {
      return body() ? 0 : 1;
    } catch (...) {
      error_ = std::current_exception();
      return 1;
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
};

/// Gathers what the host writes.
struct StringSink {
  std::string text;
  Caught caught;
  krux_sink sink{this, [](void* self, krux_str bytes) noexcept -> std::int32_t {
                   auto& me = *static_cast<StringSink*>(self);
                   return me.caught.run([&] {
                     me.text.append(from_abi(bytes));
                     return true;
                   });
                 }};
  StringSink() = default;
  StringSink(const StringSink&) = delete;
  StringSink& operator=(const StringSink&) = delete;
};

/// Writes to the host; a receiver that says "stop" ends the call.
inline void emit(const krux_sink* sink, std::string_view bytes) {
  if (sink->write(sink->self, to_abi(bytes)) != 0) {
    throw ProxyError(ErrorKind::kCancelled, "The host takes no more of this result.");
  }
}

}  // namespace detail
}  // namespace kruxos
