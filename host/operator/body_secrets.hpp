// Secrets that are sent to the operator's socket.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/definition/account_check.hpp"
#include "core/vault/secret.hpp"

namespace krux {

/// Parsed in place, so that a secret is nowhere but in the body, which is to be wiped, and here.
class BodySecrets {
 public:
  /// Nothing but `names` may stand there, and `base_url` and `settings` where `own` is given. Throws krux::Error
  /// InvalidInput.
  BodySecrets(std::string& body, std::span<const std::string_view> names, AccountOwn* own = nullptr);

  /// Of one of `names`; empty where it is not given.
  Secret& of(std::string_view name);

 private:
  std::span<const std::string_view> names_;
  std::vector<Secret> secrets_;
};

}  // namespace krux
