#include "host/operator/operator_grants.hpp"

#include "core/util/ids.hpp"
#include "core/util/text.hpp"

namespace krux {

std::string OperatorGrants::give(const Holder& holder, std::int64_t passphrase) {
  auto text = random_hex(32);
  const std::lock_guard lock(mutex_);
  grants_.begin(sha256_hex(text), holder, passphrase);
  return text;
}

bool OperatorGrants::holds(std::string_view grant, const Holder& holder, std::int64_t passphrase) {
  const auto hash = sha256_hex(grant);
  const std::lock_guard lock(mutex_);
  const auto* its = grants_.find(hash, passphrase);
  if (!its || *its != holder) return false;
  grants_.used(hash);
  return true;
}

}  // namespace krux
