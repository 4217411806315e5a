#include "host/operator/operator_grants.hpp"

#include "core/util/ids.hpp"
#include "core/util/text.hpp"

namespace krux {

std::string OperatorGrants::give(const Holder& holder, const OperatorSecret::Known& to) {
  auto text = random_hex(32);
  const std::lock_guard lock(mutex_);
  grants_.begin(sha256_hex(text), {holder, to}, to.passphrase);
  return text;
}

std::optional<OperatorSecret::Known> OperatorGrants::owner(std::string_view grant, const Holder& holder) {
  const auto hash = sha256_hex(grant);
  const std::lock_guard lock(mutex_);
  const auto* its = grants_.find(hash);
  if (!its || its->holder != holder) return std::nullopt;
  grants_.used(hash);
  return its->owner;
}

}  // namespace krux
