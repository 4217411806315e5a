// Who has signed in on the page.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "host/operator/operator_sittings.hpp"

namespace krux::web {

/// Any thread.
class WebSessions {
 public:
  static constexpr std::size_t kMost = 16;
  WebSessions(const Clock& clock, SittingLimits limits) : sessions_(clock, limits) {}

  /// What a session is known by, in two: a part of its pages' address, so that a browser sends the cookie to no other
  /// server of this machine, and the cookie, so that the address alone is good for nothing.
  struct Keys {
    std::string address, cookie;
  };
  /// `passphrase`, here and below: see OperatorSittings.
  Keys begin(std::int64_t passphrase);
  enum class Use { kByPerson, kByScript };
  /// The session's token, which its forms carry; nothing where there is no such session any more. What a person does
  /// begins its idle time anew.
  std::optional<std::string> use(const Keys& keys, Use by, std::int64_t passphrase);
  void end(const std::string& address);

 private:
  struct Session {
    std::string cookie_hash, token;
  };
  std::mutex mutex_;
  OperatorSittings<Session> sessions_;  ///< by address
};

}  // namespace krux::web
