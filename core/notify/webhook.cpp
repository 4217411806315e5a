#include "core/notify/webhook.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/util/error.hpp"
#include "core/util/ids.hpp"
#include "core/util/text.hpp"
#include "core/write/alerts.hpp"
#include "core/write/write.hpp"

namespace krux {
namespace {

constexpr std::int64_t kPostMs = 10'000;
constexpr std::uint64_t kMostAnswerBytes = 1 << 20;
/// Changes that come together are one message.
constexpr std::int64_t kGatherMs = 1'000;
/// Alerts come without a word to this thread.
constexpr std::int64_t kLookEveryMs = 10'000;
constexpr const char* kFailing = "webhook_failing";

}  // namespace

Webhook::Webhook(GroupCommit& store, AlertStore& alerts, Clock& clock, std::shared_ptr<HttpTransport> transport,
                 WebhookKey key, WebhookOptions options)
    : alerts_(alerts),
      clock_(clock),
      transport_(std::move(transport)),
      key_(std::move(key)),
      options_(std::move(options)),
      notices_(store, clock, options_.content) {
  status_.origin = options_.url.origin();
  try {
    notices_.forget_what_is_over();
  } catch (const Error& error) {  // the ledger's trouble: what is over is forgotten with the next message
    spdlog::warn("the webhook could not look at what it has told: {}", error.what());
  }
}

Webhook::~Webhook() {
  stop();
}

void Webhook::start() {
  thread_ = std::thread([this] { loop(); });
}

void Webhook::stop() {
  std::set<std::shared_ptr<CallContext>> under_way;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    under_way = under_way_;
    wake_.notify_all();
  }
  for (const auto& call : under_way) call->cancel();
  if (thread_.joinable()) thread_.join();
}

void Webhook::changed(const WriteRecord& write) {
  const bool waits = write.state == WriteState::kPendingApproval;
  if (!waits && !write.approval_resolved) return;
  const std::lock_guard lock(mutex_);
  if (write.approval_resolved) decided_.push_back(write.seq);
  news_ = news_ || waits;
  if (waits) wake_.notify_all();
}

WebhookStatus Webhook::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void Webhook::loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    // While it fails, news does not hurry it.
    const bool fails = status_.failures > 0;
    const auto until = fails ? status_.next_try_boot_ms : clock_.boot_ms() + kLookEveryMs;
    clock_.wait_until(lock, wake_, until, [&] { return stopping_ || (news_ && status_.failures == 0); });
    clock_.wait_until(lock, wake_, clock_.boot_ms() + (fails ? 0 : kGatherMs), [&] { return stopping_; });
    if (stopping_) return;
    news_ = false;
    lock.unlock();
    const bool more = look();
    lock.lock();
    news_ = news_ || more;
    // What failed may be over, so that nothing was tried.
    if (status_.failures > 0)
      status_.next_try_boot_ms = std::max(status_.next_try_boot_ms, clock_.boot_ms() + kFirstRetryMs);
  }
}

bool Webhook::look() {
  bool told = false;
  try {
    note_as_told();
    forget_decided();
    for (const auto& notice : notices_.open()) {
      if (!deliver(notice)) return false;
      told = true;
      unnoted_ = notice;
      note_as_told();
    }
    send_head();
  } catch (const Error& error) {  // the ledger's trouble, of which it tells itself
    spdlog::warn("the webhook has to wait: {}", error.what());
  }
  return told;
}

void Webhook::forget_decided() {
  std::vector<std::int64_t> decided;
  {
    const std::lock_guard lock(mutex_);
    decided = decided_;
  }
  notices_.forget(decided);
  const std::lock_guard lock(mutex_);
  decided_.erase(decided_.begin(), decided_.begin() + static_cast<std::ptrdiff_t>(decided.size()));
}

/// A disk that is full must not have the receiver told again and again.
void Webhook::note_as_told() {
  if (!unnoted_) return;
  notices_.told(*unnoted_);
  unnoted_.reset();
}

bool Webhook::send_head() {
  if (!options_.newest_head || clock_.boot_ms() < head_due_boot_ms_) return true;
  const auto head = options_.newest_head();
  if (head.head.seq == 0 || head.head.seq == head_told_) return true;
  if (!deliver(notices_.head(head))) return false;
  head_told_ = head.head.seq;
  head_due_boot_ms_ = clock_.boot_ms() + kHeadsEveryMs;
  return true;
}

bool Webhook::deliver(const WebhookNotice& notice) {
  const bool again = last_ && last_->notice.type == notice.type && last_->notice.numbers == notice.numbers;
  if (!again) last_ = Message{make_id("msg_", clock_.wall_ms()), notice};
  const auto problem = post(*last_);
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ && problem) return false;
  }
  note(problem);
  if (problem) return false;
  last_.reset();
  return true;
}

std::optional<std::string> Webhook::test() {
  auto problem = post({make_id("msg_", clock_.wall_ms()), notices_.test()});
  if (problem) return problem;
  note(std::nullopt);
  const std::lock_guard lock(mutex_);
  news_ = true;
  wake_.notify_all();
  return std::nullopt;
}

std::optional<std::string> Webhook::post(const Message& message) {
  const auto seconds = clock_.wall_ms() / 1000;
  HttpRequest request;
  request.method = "POST";
  request.headers = {{"Content-Type", "application/json"},
                     {"webhook-id", message.id},
                     {"webhook-timestamp", std::to_string(seconds)},
                     {"webhook-signature", key_.sign(message.id, seconds, message.notice.body)}};
  request.body = message.notice.body;
  request.timeout_ms = kPostMs;
  request.max_response_bytes = kMostAnswerBytes;
  const auto call = std::make_shared<CallContext>(CallOwner{"webhook", "", 0, "", 0, Sends::kAnything}, clock_,
                                                  clock_.boot_ms() + kPostMs);
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return "The host stops.";
    under_way_.insert(call);
  }
  HttpResponse response;
  const auto outcome = transport_->send(call, options_.url, request, {}, response);
  call->end();
  {
    const std::lock_guard lock(mutex_);
    under_way_.erase(call);
  }
  // Taken, whatever became of the answer's content.
  if (response.status >= 200 && response.status <= 299) return std::nullopt;
  // The receiver's words may be anything, and are not repeated.
  if (outcome.status != KRUX_OK)
    return fmt::format("{} cannot be reached: {}", status_.origin, printable(outcome.message));
  return fmt::format("{} answered with status {}; 200 to 299 is expected, and a redirect is not followed.",
                     status_.origin, response.status);
}

void Webhook::note(const std::optional<std::string>& problem) {
  bool tell = false, settle = false;
  {
    const std::lock_guard lock(mutex_);
    if (problem) {
      if (status_.failures++ == 0) status_.failing_since_ms = clock_.wall_ms();
      status_.problem = *problem;
      const auto doublings = std::min<std::int64_t>(status_.failures - 1, 20);
      status_.next_try_boot_ms = clock_.boot_ms() + std::min(kFirstRetryMs << doublings, kLongestRetryMs);
      tell = status_.failures == kFailuresUntilAlert;
    } else {
      // The alert may be of an earlier run.
      settle = status_.delivered == 0 || status_.failures >= kFailuresUntilAlert;
      status_.failures = status_.failing_since_ms = status_.next_try_boot_ms = 0;
      status_.problem.clear();
      status_.delivered_at_ms = clock_.wall_ms();
      ++status_.delivered;
    }
  }
  if (problem) spdlog::warn("webhook: {}", *problem);
  if (settle) alerts_.settle(kFailing);
  if (tell)
    alerts_.raise({"warning", kFailing, "", "", "",
                   "What waits for you is not told by the webhook: " + *problem +
                       " The host goes on trying. Check webhook.url; kruxos webhook test tries at once.",
                   true});
}

}  // namespace krux
