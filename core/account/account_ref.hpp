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

}  // namespace krux
