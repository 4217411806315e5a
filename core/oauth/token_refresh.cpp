// One refresh, from the request to what is stored of its answer.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/oauth/refresh_times.hpp"
#include "core/oauth/token_refresher.hpp"
#include "core/util/error.hpp"
#include "core/util/fault_point.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"

namespace krux {

/// The lock is held on entry and on return.
void TokenRefresher::refresh(Account& account, std::unique_lock<std::mutex>& lock) {
  const Run run{account.ref, account.connected_at_ms, lock};
  account.running = true;
  account.wanted = false;
  auto fresh = std::exchange(account.unsaved, std::nullopt);
  lock.unlock();
  std::optional<TokenFailure> failure;
  try {
    if (!fresh) {
      std::int64_t expires_at_ms = 0;
      if (auto credential = ask(run, failure, expires_at_ms))
        fresh = Account::Unsaved{*std::move(credential), expires_at_ms};
    }
  } catch (const std::exception& error) {
    failure = TokenFailure{false, "", printable(error.what()), std::nullopt};
  }
  try {
    if (fresh) store(run, *std::move(fresh));
    if (failure) fail(run, *failure);
  } catch (const std::exception& error) {
    spdlog::error("a renewal of {} {} is not noted: {}", run.ref.service, printable(run.ref.account_id),
                  printable(error.what()));
  }
  if (!lock.owns_lock()) lock.lock();
  // Who came meanwhile gets what this one has brought.
  if (auto* after = find(run.ref, run.connected_at_ms)) after->running = after->wanted = false;
  changed_.notify_all();
}

std::optional<Credential> TokenRefresher::ask(const Run& run, std::optional<TokenFailure>& failure,
                                              std::int64_t& expires_at_ms) {
  const auto& ref = run.ref;
  auto credential = vault_.credential(ref.service, ref.account_id, ref.generation);
  if (!credential || credential->refresh_token.empty() || credential->connected_at_ms != run.connected_at_ms)
    return std::nullopt;
  KRUX_FAULT_POINT("oauth.refresh.before_send");
  auto result = client_.refresh(ref, *credential, credential->refresh_token);
  const auto* refused = std::get_if<TokenFailure>(&result);
  if (refused && refused->for_good && !credential->previous_refresh_token.empty()) {
    // The service may never have learnt that its last answer arrived.
    auto again = client_.refresh(ref, *credential, credential->previous_refresh_token);
    const auto* still = std::get_if<TokenFailure>(&again);
    if (!still || !still->for_good) result = std::move(again);
  }
  KRUX_FAULT_POINT("oauth.refresh.answered");
  if (auto* problem = std::get_if<TokenFailure>(&result)) {
    failure = std::move(*problem);
    return std::nullopt;
  }
  auto& answer = std::get<TokenAnswer>(result);
  credential->access_token = std::move(answer.access_token);
  if (!answer.refresh_token.empty() && answer.refresh_token.reveal() != credential->refresh_token.reveal()) {
    credential->previous_refresh_token = std::move(credential->refresh_token);
    credential->refresh_token = std::move(answer.refresh_token);
  }
  if (answer.expires_in_ms) expires_at_ms = clock_.wall_ms() + *answer.expires_in_ms;
  return credential;
}

std::optional<std::string> TokenRefresher::save(const AccountRef& ref, const Account::Unsaved& fresh, bool& gone) {
  try {
    vault_.renew(ref.service, ref.account_id, ref.generation, fresh.credential, fresh.expires_at_ms);
    log_event(spdlog::level::info, {"token_renewed", ref.service, ref.account_id, "", ""},
              fmt::format("the access token of {} {} was renewed", ref.service, printable(ref.account_id)));
    note_connections();
    return std::nullopt;
  } catch (const Error& error) {
    gone = error.type() == ErrorCode::kNotConnected;
    return error.what();
  } catch (const std::exception& error) {
    return error.what();
  }
}

void TokenRefresher::note_renewal(Account& account, std::int64_t expires_at_ms) const {
  const auto now = clock_.boot_ms();
  account.failures = 0;
  ++account.renewals;
  account.why.clear();
  account.renewed_boot_ms = now;
  account.young_ms = young_ms(expires_at_ms == 0 ? 0 : std::max<std::int64_t>(1, expires_at_ms - clock_.wall_ms()));
  account.next_try_boot_ms = now + account.young_ms;
  // Tokens that live for seconds are renewed before a minute is over: that must not put it off for ever.
  if (account.tell_again_boot_ms == 0) account.tell_again_boot_ms = now + kLookEveryMs;
}

void TokenRefresher::store(const Run& run, Account::Unsaved fresh) {
  const auto& ref = run.ref;
  bool gone = false;
  const auto why = save(ref, fresh, gone);
  const bool stored = !why;
  run.lock.lock();
  auto* account = find(ref, run.connected_at_ms);
  if (account && stored) {
    note_renewal(*account, fresh.expires_at_ms);
  } else if (account && !gone) {
    ++account->failures;
    account->why = "it could not be stored";
    account->unsaved = std::move(fresh);
    account->next_try_boot_ms = clock_.boot_ms() + kStoreAgainMs;
  }
  const bool first = account && account->failures == 1;
  run.lock.unlock();
  if (first && !stored)
    spdlog::error("the renewed token of {} {} is not stored: {}", ref.service, printable(ref.account_id), *why);
  count(ref, stored ? "renewed" : "not_stored");
  if (account && stored && hooks_.renewed) hooks_.renewed(ref);
}

void TokenRefresher::fail(const Run& run, const TokenFailure& failure) {
  const auto& ref = run.ref;
  run.lock.lock();
  auto* account = find(ref, run.connected_at_ms);
  bool has_ended = false;
  if (account) {
    ++account->failures;
    account->why = failure.message;
    account->refused = failure.for_good;
    const auto pause =
        std::min(std::max(refresh_pause_ms(account->failures), failure.retry_after_ms.value_or(0)), kLongestPauseMs);
    account->next_try_boot_ms = clock_.boot_ms() + pause;
    has_ended = left_ms(*account) <= 0;
  }
  run.lock.unlock();
  count(ref, failure.for_good ? "refused" : "failed");
  log_event(spdlog::level::warn, {"token_not_renewed", ref.service, ref.account_id, "", ""},
            fmt::format("the access token of {} {} was not renewed: {}", ref.service, printable(ref.account_id),
                        failure.message));
  if (account && failure.for_good && hooks_.refused) hooks_.refused(ref, failure.message);
  if (account && !failure.for_good && has_ended && hooks_.ended) hooks_.ended(ref, failure.message);
}

void TokenRefresher::count(const AccountRef& ref, const char* outcome) const {
  if (hooks_.count) hooks_.count(ref, outcome);
}

}  // namespace krux
