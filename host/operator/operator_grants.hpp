// Who has shown the operator's passphrase on the operator's socket, and may decide for some minutes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "host/operator/operator_sittings.hpp"

namespace krux {

/// Any thread.
class OperatorGrants {
 public:
  OperatorGrants(const Clock& clock, SittingLimits limits) : grants_(clock, limits) {}

  /// One process, by the kernel's word: a grant that another one reads somewhere is good for nothing there.
  struct Holder {
    uid_t uid = static_cast<uid_t>(-1);
    pid_t pid = 0;
    bool operator==(const Holder&) const = default;
  };

  /// 64 hexadecimal digits. `passphrase`, here and below: see OperatorSittings.
  std::string give(const Holder& holder, std::int64_t passphrase);
  /// Whether it is the holder's and goes on; if so, its idle time begins anew.
  bool holds(std::string_view grant, const Holder& holder, std::int64_t passphrase);

 private:
  std::mutex mutex_;
  OperatorSittings<Holder> grants_;  ///< by the SHA-256 of what was given
};

}  // namespace krux
