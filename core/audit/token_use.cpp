#include "core/audit/token_use.hpp"

#include "core/audit/audit_log.hpp"
#include "core/util/json_out.hpp"

namespace krux {
namespace {

constexpr std::int64_t kTellEveryMs = 60'000;

AuditEntry entry_about(const char* kind, const std::string& service, const std::string& account_id) {
  AuditEntry entry;
  entry.kind = kind;
  entry.service = service;
  entry.account_id = account_id;
  return entry;
}

}  // namespace

void TokenUse::used(const std::string& service, const std::string& account_id) {
  const auto now = clock_.wall_ms();
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = used_.try_emplace({service, account_id});
  auto& used = at->second;
  // A wall clock that was set back counts as well: otherwise nothing would be told until it has caught up.
  const bool over = used.requests > 0 && (now >= used.since_ms + kTellEveryMs || now < used.since_ms);
  if (over) tell(at->first, used);
  if (used.requests++ == 0) used.since_ms = now;
}

void TokenUse::tell(const Account& account, Used& used) {
  auto entry = entry_about("token.used", account.first, account.second);
  entry.body = json_object([&](JsonWriter& out) {
    put(out, "requests", used.requests);
    put(out, "since_ms", used.since_ms);
  });
  log_.add(std::move(entry));
  used = {};
}

void TokenUse::renewal(const std::string& service, const std::string& account_id, const std::string& outcome) {
  auto entry = entry_about("token.renewal", service, account_id);
  entry.body = json_object([&](JsonWriter& out) { put(out, "outcome", outcome); });
  log_.add(std::move(entry));
}

void TokenUse::tell() {
  const std::lock_guard lock(mutex_);
  for (auto& [account, used] : used_) {
    if (used.requests > 0) tell(account, used);
  }
}

}  // namespace krux
