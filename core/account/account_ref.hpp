// Which account something belongs to.
#pragma once

#include <cstdint>
#include <string>

namespace krux {

/// Immutable. Each connecting of an account is a generation of its own.
struct AccountRef {
  std::string service, account_id;
  std::uint32_t generation = 0;
  bool operator==(const AccountRef&) const = default;
};

/// One text for each: of a service's account, one of its connectings.
inline std::string text_of(const AccountRef& account) {
  return account.service + '/' + account.account_id + '#' + std::to_string(account.generation);
}

}  // namespace krux
