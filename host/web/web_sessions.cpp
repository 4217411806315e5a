#include "host/web/web_sessions.hpp"

#include "core/util/ids.hpp"
#include "core/util/text.hpp"

namespace krux::web {

WebSessions::Keys WebSessions::begin(const OperatorSecret::Known& owner) {
  Keys keys{random_hex(16), random_hex(32)};
  const std::lock_guard lock(mutex_);
  sessions_.begin(keys.address, {sha256_hex(keys.cookie), {random_hex(16), owner}}, owner.passphrase);
  return keys;
}

std::optional<WebSessions::Session> WebSessions::use(const Keys& keys, Use by) {
  const auto hash = sha256_hex(keys.cookie);
  const std::lock_guard lock(mutex_);
  const auto* kept = sessions_.find(keys.address);
  if (!kept || !equal_constant_time(kept->cookie_hash, hash)) return std::nullopt;
  if (by == Use::kByPerson) sessions_.used(keys.address);
  return kept->session;
}

void WebSessions::end(const std::string& address) {
  const std::lock_guard lock(mutex_);
  sessions_.end(address);
}

}  // namespace krux::web
