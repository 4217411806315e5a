#include "host/web/web_sessions.hpp"

#include "core/util/ids.hpp"
#include "core/util/text.hpp"

namespace krux::web {

WebSessions::Keys WebSessions::begin(std::int64_t passphrase) {
  Keys keys{random_hex(16), random_hex(32)};
  const std::lock_guard lock(mutex_);
  sessions_.begin(keys.address, {sha256_hex(keys.cookie), random_hex(16)}, passphrase);
  return keys;
}

std::optional<std::string> WebSessions::use(const Keys& keys, Use by, std::int64_t passphrase) {
  const auto hash = sha256_hex(keys.cookie);
  const std::lock_guard lock(mutex_);
  const auto* session = sessions_.find(keys.address, passphrase);
  if (!session || !equal_constant_time(session->cookie_hash, hash)) return std::nullopt;
  if (by == Use::kByPerson) sessions_.used(keys.address);
  return session->token;
}

void WebSessions::end(const std::string& address) {
  const std::lock_guard lock(mutex_);
  sessions_.end(address);
}

}  // namespace krux::web
