// What the outgoing webhook has to tell: read from the ledger each time, so that nothing is lost with a host that ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/audit/anchors.hpp"
#include "core/storage/reader_pool.hpp"
#include "core/util/clock.hpp"

namespace krux {

class GroupCommit;

/// One message. docs/webhook.md has its form.
struct WebhookNotice {
  std::string type;                   ///< "approval.waiting", "alert.raised", "audit.head", "webhook.test"
  std::vector<std::int64_t> numbers;  ///< of the writes or alerts that it tells of
  std::string body;                   ///< one JSON object
};

struct WebhookContent {
  bool details = false;   ///< what people read about a write or an alert goes out too
  std::string queue_url;  ///< where the operator decides; empty: none is said
};

/// One thread. Throws krux::Error DatabaseError.
class WebhookNotices {
 public:
  WebhookNotices(GroupCommit& store, Clock& clock, WebhookContent content);

  /// What is untold and open: one of the writes that wait for a person, one of the alerts. Each holds all of its kind
  /// (of thousands the first 1,000), and names the first 20.
  std::vector<WebhookNotice> open();
  /// It has been delivered: what it tells of is not told again for as long as it is open.
  void told(const WebhookNotice& notice);
  /// These writes have been decided about: should they wait once more, that is news.
  void forget(const std::vector<std::int64_t>& decided);
  /// What was decided, or acknowledged, while nobody looked.
  void forget_what_is_over();

  WebhookNotice head(const Anchor& anchor) const;
  WebhookNotice test() const;

  static constexpr std::size_t kMostNamed = 20;

 private:
  std::optional<WebhookNotice> waiting_writes(StatementCache& sql) const;
  std::optional<WebhookNotice> open_alerts(StatementCache& sql) const;
  template <class Fill>
  std::string body(const char* type, const std::string& text, Fill fill) const;
  std::string linked(const std::string& text) const;

  GroupCommit& store_;
  Clock& clock_;
  const WebhookContent content_;
  ReaderPool readers_;
};

}  // namespace krux
