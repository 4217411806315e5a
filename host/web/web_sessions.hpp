// Who has signed in on the page.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include "core/state/operator_secret.hpp"
#include "host/operator/operator_sittings.hpp"

namespace krux::web {

/// Any thread.
class WebSessions {
 public:
  static constexpr std::size_t kMost = 16;
  WebSessions(const OperatorSecret& secret, const Clock& clock, SittingLimits limits)
      : sessions_(clock, limits, [&secret](std::int64_t passphrase) { return secret.is_present(passphrase); }) {}

  /// What a session is known by, in two: a part of its pages' address, so that a browser sends the cookie to no other
  /// server of this machine, and the cookie, so that the address alone is good for nothing.
  struct Keys {
    std::string address, cookie;
  };
  Keys begin(const OperatorSecret::Known& owner);
  enum class Use { kByPerson, kByScript };
  struct Session {
    std::string token;  ///< which its forms carry
    OperatorSecret::Known owner;
  };
  /// Nothing where there is no such session any more. What a person does begins its idle time anew.
  std::optional<Session> use(const Keys& keys, Use by);
  void end(const std::string& address);

 private:
  struct Kept {
    std::string cookie_hash;
    Session session;
  };
  std::mutex mutex_;
  OperatorSittings<Kept> sessions_;  ///< by address
};

}  // namespace krux::web
