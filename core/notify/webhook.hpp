// The outgoing webhook: tells a program of the operator's own, such as a chat's or a pager's, of what waits for him.
// docs/webhook.md.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/net/http_transport.hpp"
#include "core/notify/webhook_key.hpp"
#include "core/notify/webhook_notices.hpp"

namespace krux {

class AlertStore;
struct WriteRecord;

struct WebhookOptions {
  Url url;  ///< to which messages are posted; its path is as secret as a password
  WebhookContent content;
  /// The newest signed head of the audit log; seq 0: there is none.
  std::function<Anchor()> newest_head;
};

struct WebhookStatus {
  std::string origin;                 ///< where messages go, without the path
  std::int64_t delivered_at_ms = 0;   ///< the last one; 0: none in this run
  std::int64_t delivered = 0;         ///< in this run
  std::int64_t failing_since_ms = 0;  ///< 0: all is well
  std::int64_t failures = 0;          ///< one after the other
  std::string problem;                ///< of the last failure, a sentence; empty: all is well
  std::int64_t next_try_boot_ms = 0;  ///< while it fails
};

/// Any thread. A thread of its own looks at what is open, at most once a second, and posts one message of
/// writes and one of alerts.
class Webhook {
 public:
  /// What it is given must outlive it.
  Webhook(GroupCommit& store, AlertStore& alerts, Clock& clock, std::shared_ptr<HttpTransport> transport,
          WebhookKey key, WebhookOptions options);
  ~Webhook();  ///< stop()
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  void start();
  /// Ends what is under way; what was not delivered is told by the next run.
  void stop();
  /// A write has changed. Returns at once.
  void changed(const WriteRecord& write);
  /// Posts a test now, on this thread: nothing where it was taken, and what waits for its next try goes out then; else
  /// why not, a sentence. At most ten seconds.
  std::optional<std::string> test();

  WebhookStatus status() const;

  /// As many failures, one after the other, and the operator is told by an alert.
  static constexpr std::int64_t kFailuresUntilAlert = 5;
  static constexpr std::int64_t kFirstRetryMs = 5'000, kLongestRetryMs = 600'000;
  /// How often a signed head of the audit log goes out, where there is a new one.
  static constexpr std::int64_t kHeadsEveryMs = 3'600'000;

 private:
  struct Message {
    std::string id;
    WebhookNotice notice;
  };
  void loop();
  bool look();  ///< whether something was told, so that there may be more
  void forget_decided();
  /// Whether it was taken.
  bool deliver(const WebhookNotice& notice);
  void note_as_told();
  bool send_head();
  std::optional<std::string> post(const Message& message);
  void note(const std::optional<std::string>& problem);

  AlertStore& alerts_;
  Clock& clock_;
  const std::shared_ptr<HttpTransport> transport_;
  const WebhookKey key_;
  const WebhookOptions options_;

  // Of the thread.
  WebhookNotices notices_;
  std::optional<Message> last_;           ///< not taken yet: sent again it has the same id
  std::optional<WebhookNotice> unnoted_;  ///< delivered, and not noted: nothing else goes out until it is
  std::int64_t head_told_ = 0, head_due_boot_ms_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::int64_t> decided_;
  bool news_ = true, stopping_ = false;
  std::set<std::shared_ptr<CallContext>> under_way_;
  WebhookStatus status_;
  std::thread thread_;
};

}  // namespace krux
