// Who has shown an operator's passphrase on the operator's socket, and may decide for some minutes.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/state/operator_secret.hpp"
#include "host/operator/operator_sittings.hpp"

namespace krux {

/// Any thread. `secret` must outlive it.
class OperatorGrants {
 public:
  OperatorGrants(const OperatorSecret& secret, const Clock& clock, SittingLimits limits)
      : grants_(clock, limits, [&secret](std::int64_t passphrase) { return secret.is_present(passphrase); }) {}

  /// One process, by the kernel's word: a grant that another one reads somewhere is good for nothing there.
  struct Holder {
    uid_t uid = static_cast<uid_t>(-1);
    pid_t pid = 0;
    bool operator==(const Holder&) const = default;
  };

  /// 64 hexadecimal digits.
  std::string give(const Holder& holder, const OperatorSecret::Known& to);
  /// Whose it is, where it is the holder's and goes on; then its idle time begins anew.
  std::optional<OperatorSecret::Known> owner(std::string_view grant, const Holder& holder);

 private:
  struct Grant {
    Holder holder;
    OperatorSecret::Known owner;
  };
  std::mutex mutex_;
  OperatorSittings<Grant> grants_;  ///< by the SHA-256 of what was given
};

}  // namespace krux
