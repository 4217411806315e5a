// kruxos/adapter/error.hpp - how an adapter fails a call.
#pragma once
#include <kruxos/abi/base.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace kruxos {

/// What kind of failure it is; each value is the krux_status of the same name (kruxos/abi/base.h says what each means).
enum class ErrorKind : krux_status {
  kAuth = KRUX_AUTH,
  kRateLimited = KRUX_RATE_LIMITED,
  kNetwork = KRUX_NETWORK,
  kRefused = KRUX_REFUSED,
  kInvalid = KRUX_INVALID,
  kStorage = KRUX_STORAGE,
  kCancelled = KRUX_CANCELLED,
  kUnsupported = KRUX_UNSUPPORTED,
  kInternal = KRUX_INTERNAL,
  kTimeout = KRUX_TIMEOUT,
  kNotFound = KRUX_NOT_FOUND,
  kUnavailable = KRUX_UNAVAILABLE,
  kCursorExpired = KRUX_CURSOR_EXPIRED,
  kConflict = KRUX_CONFLICT,
};

/// Thrown to fail the running call. The message is one sentence for agents and operators; it never contains a
/// credential.
///
///   throw ProxyError(ErrorKind::kNotFound, "There is no channel C1.").type("ChannelNotFound").no_effect();
///
/// Any other exception fails the call as kInternal, and leaves open whether a write took effect.
class ProxyError : public std::runtime_error {
 public:
  /// `message` is cut at 4096 bytes by the host.
  ProxyError(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  /// The error's name in the service's definition, at most 64 letters and digits. Without one the host derives it from
  /// the kind.
  ProxyError& type(std::string name) {
    type_ = std::move(name);
    return *this;
  }
  /// Says that the effect certainly did not happen. Say so only on the service's own word; the host compares it with
  /// the wire.
  ProxyError& no_effect() {
    effect_ = KRUX_EFFECT_NONE;
    return *this;
  }
  /// How long to wait before the next try, milliseconds; at most 7 days count. -1: nobody said.
  ProxyError& retry_after_ms(std::int64_t ms) {
    retry_after_ms_ = ms;
    return *this;
  }

  ErrorKind kind() const noexcept { return kind_; }
  const std::string& type() const noexcept { return type_; }  ///< empty: the host derives it
  bool has_no_effect() const noexcept { return effect_ == KRUX_EFFECT_NONE; }
  std::int64_t retry_after_ms() const noexcept { return retry_after_ms_; }  ///< -1: none given

 private:
  ErrorKind kind_;
  std::int32_t effect_ = KRUX_EFFECT_MAYBE;
  std::string type_;
  std::int64_t retry_after_ms_ = -1;
};

}  // namespace kruxos
