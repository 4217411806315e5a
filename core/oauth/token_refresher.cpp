#include "core/oauth/token_refresher.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/adapter/cancel_wake.hpp"
#include "core/oauth/refresh_times.hpp"
#include "core/util/error.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"

namespace krux {
TokenRefresher::TokenRefresher(Vault& vault, TokenClient client, Clock& clock, Hooks hooks)
    : vault_(vault), client_(std::move(client)), clock_(clock), hooks_(std::move(hooks)) {}

TokenRefresher::~TokenRefresher() {
  stop();
  join();
}

void TokenRefresher::join() {
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void TokenRefresher::start() {
  note_connections();
  for (auto& thread : threads_) thread = std::thread([this] { work(); });
}

void TokenRefresher::stop(std::int64_t wait_ms) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  changed_.wait_for(lock, std::chrono::milliseconds(wait_ms), [this] {
    return std::none_of(accounts_.begin(), accounts_.end(), [](const auto& a) { return a.second.running; });
  });
}

void TokenRefresher::wake() {
  note_connections();
  {
    const std::lock_guard lock(mutex_);
    ++wakes_;
  }
  changed_.notify_all();
}

void TokenRefresher::work() {
  while (true) {
    note_connections();
    tell_again();
    std::unique_lock lock(mutex_);
    if (stopping_) return;
    if (auto* account = next_due()) {
      refresh(*account, lock);
      continue;
    }
    const auto seen = wakes_;
    clock_.wait_until(lock, changed_, next_look(), [&] { return stopping_ || wakes_ != seen || next_due(); });
  }
}

/// What the vault holds now.
void TokenRefresher::note_connections() {
  const std::lock_guard noting(noting_);
  const auto connections = vault_.connections();
  const bool locked = vault_.locked();
  const std::lock_guard lock(mutex_);
  locked_ = locked;
  std::map<Key, Account> kept;
  for (const auto& c : connections) {
    if (!c.refreshable) continue;
    const Key key{c.service, c.account_id};
    auto node = accounts_.extract(key);
    auto& account = kept[key];
    const AccountRef ref{c.service, c.account_id, c.generation};
    // Connected again, it begins anew; what is under way for it ends by itself.
    if (node && node.mapped().ref == ref && node.mapped().connected_at_ms == c.connected_at_ms)
      account = std::move(node.mapped());
    if (account.ref != ref || account.expires_at_ms != c.expires_at_ms || account.connected_at_ms == 0) {
      account.expires_boot_ms =
          c.expires_at_ms == 0 ? 0 : clock_.boot_ms() + std::max<std::int64_t>(0, c.expires_at_ms - clock_.wall_ms());
    }
    account.ref = ref;
    account.connected_at_ms = c.connected_at_ms;
    account.expires_at_ms = c.expires_at_ms;
  }
  accounts_ = std::move(kept);
}

/// Until the access token ends, by whichever clock says so first.
std::int64_t TokenRefresher::left_ms(const Account& account) const {
  if (account.expires_at_ms == 0) return std::numeric_limits<std::int64_t>::max();
  return std::min(account.expires_at_ms - clock_.wall_ms(), account.expires_boot_ms - clock_.boot_ms());
}

bool TokenRefresher::is_young(const Account& account) const {
  return account.renewed_boot_ms != 0 && clock_.boot_ms() - account.renewed_boot_ms < account.young_ms;
}

bool TokenRefresher::is_due(const Account& a) const {
  if (locked_ || a.running || a.refused || clock_.boot_ms() < a.next_try_boot_ms) return false;
  return a.unsaved || a.wanted || left_ms(a) <= kRefreshAheadMs;
}

TokenRefresher::Account* TokenRefresher::next_due() {
  for (auto& [key, account] : accounts_) {
    if (is_due(account)) return &account;
  }
  return nullptr;
}

std::int64_t TokenRefresher::next_look() const {
  const auto now = clock_.boot_ms();
  auto next = now + kLookEveryMs;
  for (const auto& [key, a] : accounts_) {
    if (!a.refused && a.next_try_boot_ms > now) next = std::min(next, a.next_try_boot_ms);
    if (a.tell_again_boot_ms > now) next = std::min(next, a.tell_again_boot_ms);
  }
  return next;
}

TokenRefresher::Account* TokenRefresher::find(const AccountRef& ref) {
  const auto at = accounts_.find({ref.service, ref.account_id});
  return at == accounts_.end() || at->second.ref != ref ? nullptr : &at->second;
}

TokenRefresher::Account* TokenRefresher::find(const AccountRef& ref, std::int64_t connected_at_ms) {
  auto* account = find(ref);
  return account && account->connected_at_ms == connected_at_ms ? account : nullptr;
}

HttpOutcome TokenRefresher::ensure(const AccountRef& ref, const CallContextPtr& call) {
  std::unique_lock lock(mutex_);
  auto* account = find(ref);
  if (!account || locked_ || left_ms(*account) > 0) return {};
  return await(lock, ref, call);
}

HttpOutcome TokenRefresher::renew(const AccountRef& ref, std::string_view used, const CallContextPtr& call) {
  if (has_changed(ref, used)) return {};  // somebody else has met the 401 before
  std::unique_lock lock(mutex_);
  auto* account = find(ref);
  if (!account || locked_) return {KRUX_AUTH, "the service refuses the token", {}};
  if (is_young(*account) && !account->running && !account->unsaved) {
    lock.unlock();
    // It may have come between the two looks.
    if (has_changed(ref, used)) return {};
    return {KRUX_AUTH, "the service refuses a token that it has just issued", {}};
  }
  auto outcome = await(lock, ref, call);
  if (outcome.status != KRUX_OK && has_changed(ref, used)) return {};
  return outcome;
}

bool TokenRefresher::has_changed(const AccountRef& ref, std::string_view used) const {
  const auto present = vault_.token(ref.service, ref.account_id, ref.generation);
  return present && !equal_constant_time(present->reveal(), used);
}

/// Has it refreshed, and waits for the end of that.
HttpOutcome TokenRefresher::await(std::unique_lock<std::mutex>& lock, const AccountRef& ref,
                                  const CallContextPtr& call) {
  const auto* before = find(ref);
  if (before->refused) return {KRUX_AUTH, "the service refuses to renew the token: " + before->why, {}};
  const auto pause = before->next_try_boot_ms - clock_.boot_ms();
  const auto not_now = [&](const Account& a) -> HttpOutcome {
    return {KRUX_UNAVAILABLE,
            fmt::format("the access token has ended and cannot be renewed at present; nothing was sent: {}",
                        a.why.empty() ? "it has just been renewed, and ended at once" : a.why),
            std::max<std::int64_t>(1000, a.next_try_boot_ms - clock_.boot_ms())};
  };
  if (!before->running && pause > 0) return not_now(*before);
  const auto renewals = before->renewals;
  find(ref)->wanted = true;
  ++wakes_;
  changed_.notify_all();
  lock.unlock();
  const CancelWake wake(call, mutex_, changed_);
  lock.lock();
  const auto over = [&] {
    const auto* a = find(ref);
    return stopping_ || !a || (!a->wanted && !a->running) || call->cancelled();
  };
  clock_.wait_until(lock, changed_, call->deadline_boot_ms(), over);
  const auto* after = find(ref);
  HttpOutcome outcome;
  if (!after) {
    outcome = {KRUX_AUTH, "the account is not connected any more", {}};
  } else if (after->refused) {
    outcome = {KRUX_AUTH, "the service refuses to renew the token: " + after->why, {}};
  } else if (after->wanted || after->running) {
    outcome = call->left_ms() == 0 ? HttpOutcome{KRUX_TIMEOUT, "the call's time is over", {}}
                                   : HttpOutcome{KRUX_CANCELLED, "the call was cancelled; nothing was sent", {}};
  } else if (after->renewals == renewals) {
    outcome = not_now(*after);
  }
  lock.unlock();  // before the wake-up goes, whose callback takes it
  return outcome;
}

bool TokenRefresher::suspect(const AccountRef& ref) {
  const std::lock_guard lock(mutex_);
  auto* account = find(ref);
  if (!account || account->refused) return false;
  if (is_young(*account) && !account->running) return false;
  account->wanted = true;
  ++wakes_;
  changed_.notify_all();
  return true;
}

void TokenRefresher::tell_again() {
  std::vector<AccountRef> due;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [key, account] : accounts_) {
      if (account.tell_again_boot_ms == 0 || account.tell_again_boot_ms > clock_.boot_ms()) continue;
      account.tell_again_boot_ms = 0;
      due.push_back(account.ref);
    }
  }
  for (const auto& ref : due) {
    if (hooks_.resume) hooks_.resume(ref);
  }
}

}  // namespace krux
