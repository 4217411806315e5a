#include "core/notify/webhook_notices.hpp"

#include <fmt/format.h>

#include "core/storage/group_commit.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "core/write/alerts.hpp"

namespace krux {
namespace {

constexpr std::int64_t kMostAtOnce = 1000;
constexpr const char *kWaiting = "approval.waiting", *kRaised = "alert.raised";
constexpr const char* kWaitingWrites =
    "SELECT w.seq, w.write_id, coalesce(a.name, w.agent_id), w.service, w.account_id, w.operation, w.created_at_ms, "
    "w.approval_until_ms, w.summary, w.approval_reason FROM writes w LEFT JOIN agents a ON a.agent_id = w.agent_id "
    "WHERE w.needs_operator = 1 AND w.state = 'pending_approval' AND NOT EXISTS (SELECT 1 FROM webhook_told t WHERE "
    "t.kind = 'write' AND t.number = w.seq) ORDER BY w.seq LIMIT ?1";
/// The webhook's own trouble is no news for it, and that approvals wait it tells by themselves.
constexpr const char* kOpenAlerts =
    "SELECT o.id, o.raised_at_ms, o.severity, o.kind, o.service, o.account_id, coalesce(o.write_id, ''), "
    "coalesce(a.name, o.agent_id, ''), o.message FROM alerts o LEFT JOIN agents a ON a.agent_id = o.agent_id "
    "WHERE o.acknowledged_at_ms IS NULL AND o.kind NOT IN ('webhook_failing', 'approval_waiting') AND NOT EXISTS "
    "(SELECT 1 FROM webhook_told t WHERE t.kind = 'alert' AND t.number = o.id) ORDER BY o.id LIMIT ?1";

constexpr const char* kForgetWhatIsOver =
    "DELETE FROM webhook_told WHERE (kind = 'write' AND NOT EXISTS (SELECT 1 FROM writes w WHERE w.seq = number AND "
    "w.state = 'pending_approval')) OR (kind = 'alert' AND NOT EXISTS (SELECT 1 FROM alerts o WHERE o.id = number AND "
    "o.acknowledged_at_ms IS NULL))";

struct WaitingWrite {
  std::string write_id, agent, service, account_id, capability, summary, reason;
  std::int64_t created_at_ms = 0, expires_at_ms = 0;
};

struct OpenAlert {
  std::string severity, kind, service, account_id, write_id, agent, message;
  std::int64_t id = 0, raised_at_ms = 0;
};

/// Chats that show `text` take what stands between "<" and ">" for links and mentions.
std::string in_chat(std::string_view words) {
  std::string out;
  for (const char c : words) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<' || c == '>') {
      out += c == '<' ? "&lt;" : "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

void put_unless_empty(JsonWriter& out, std::string_view name, const std::string& text) {
  if (!text.empty()) put(out, name, text);
}

void put_time(JsonWriter& out, std::string_view name, std::int64_t at_ms) {
  if (at_ms > 0) put(out, name, format_time(at_ms));
}

/// The rows' first columns go into `numbers`, and what `read` makes of the first rows is returned.
template <class Read>
auto named_of(Statement& rows, std::vector<std::int64_t>& numbers, Read read) {
  std::vector<decltype(read(rows))> named;
  const ResetAtEnd reset(rows);
  rows.bind_all(kMostAtOnce);
  while (rows.step()) {
    numbers.push_back(rows.integer(0));
    if (named.size() < WebhookNotices::kMostNamed) named.push_back(read(rows));
  }
  return named;
}

}  // namespace

WebhookNotices::WebhookNotices(GroupCommit& store, Clock& clock, WebhookContent content)
    : store_(store), clock_(clock), content_(std::move(content)), readers_(store.file(), store.kind()) {}

template <class Fill>
std::string WebhookNotices::body(const char* type, const std::string& text, Fill fill) const {
  return json_object([&](JsonWriter& out) {
    put(out, "type", type);
    put(out, "timestamp", format_time(clock_.wall_ms()));
    put_key(out, "data");
    out.StartObject();
    fill(out);
    put_unless_empty(out, "queue", content_.queue_url);
    out.EndObject();
    put(out, "text", text);
  });
}

std::string WebhookNotices::linked(const std::string& text) const {
  return content_.queue_url.empty() ? text + " See: kruxos approve list" : text + " " + content_.queue_url;
}

std::optional<WebhookNotice> WebhookNotices::waiting_writes(StatementCache& sql) const {
  WebhookNotice notice{kWaiting, {}, {}};
  const auto named = named_of(sql.get(kWaitingWrites), notice.numbers, [](const Statement& row) {
    const auto text = [&row](int column) { return std::string(row.text(column)); };
    return WaitingWrite{text(1), text(2), text(3), text(4), text(5), text(8), text(9), row.integer(6), row.integer(7)};
  });
  if (named.empty()) return std::nullopt;
  const auto count = notice.numbers.size();
  auto says = fmt::format("{} {} by {}.",
                          count == 1 ? std::string("A write waits for a decision:")
                                     : fmt::format("{} writes wait for a decision, the first:", count),
                          named.front().capability, named.front().agent);
  if (content_.details) says += " " + in_chat(named.front().summary);
  notice.body = body(kWaiting, linked(says), [&](JsonWriter& out) {
    put_objects(out, "writes", named, [&](const WaitingWrite& write) {
      put(out, "write_id", write.write_id);
      put(out, "agent", write.agent);
      put(out, "service", write.service);
      put(out, "account_id", write.account_id);
      put(out, "capability", write.capability);
      put_time(out, "asked_at", write.created_at_ms);
      put_time(out, "expires_at", write.expires_at_ms);
      if (!content_.details) return;
      put_unless_empty(out, "summary", write.summary);
      put_unless_empty(out, "reason", write.reason);
    });
    put(out, "more", static_cast<std::int64_t>(count - named.size()));
  });
  return notice;
}

std::optional<WebhookNotice> WebhookNotices::open_alerts(StatementCache& sql) const {
  WebhookNotice notice{kRaised, {}, {}};
  const auto named = named_of(sql.get(kOpenAlerts), notice.numbers, [](const Statement& row) {
    const auto text = [&row](int column) { return std::string(row.text(column)); };
    return OpenAlert{text(2), text(3), text(4), text(5), text(6), text(7), text(8), row.integer(0), row.integer(1)};
  });
  if (named.empty()) return std::nullopt;
  const auto count = notice.numbers.size();
  const auto& first = named.front();
  auto says =
      fmt::format("{} {} ({}).", count == 1 ? std::string("An alert:") : fmt::format("{} alerts, the first:", count),
                  first.kind, first.severity);
  if (content_.details)
    says += " " + in_chat(first.kind == kAgentMessage ? in_agents_words("agent " + first.agent, first.message)
                                                      : printable(first.message));
  notice.body = body(kRaised, linked(says), [&](JsonWriter& out) {
    put_objects(out, "alerts", named, [&](const OpenAlert& alert) {
      put(out, "alert_id", alert.id);
      put(out, "severity", alert.severity);
      put(out, "kind", alert.kind);
      put_time(out, "raised_at", alert.raised_at_ms);
      put_unless_empty(out, "service", alert.service);
      put_unless_empty(out, "account_id", alert.account_id);
      put_unless_empty(out, "write_id", alert.write_id);
      put_unless_empty(out, "agent", alert.agent);
      put(out, "in_agents_words", alert.kind == kAgentMessage);
      if (content_.details) put_unless_empty(out, "message", alert.message);
    });
    put(out, "more", static_cast<std::int64_t>(count - named.size()));
  });
  return notice;
}

std::vector<WebhookNotice> WebhookNotices::open() {
  auto lease = readers_.lease();
  std::vector<WebhookNotice> all;
  if (auto writes = waiting_writes(lease.sql())) all.push_back(*std::move(writes));
  if (auto alerts = open_alerts(lease.sql())) all.push_back(*std::move(alerts));
  return all;
}

void WebhookNotices::told(const WebhookNotice& notice) {
  const char* kind = notice.type == kWaiting ? "write" : notice.type == kRaised ? "alert" : nullptr;
  if (!kind) return;
  store_.run([&, now = clock_.wall_ms()](SQLite::Database& db) {
    execute(db.getHandle(), kForgetWhatIsOver);
    Statement mark(db.getHandle(),
                   "INSERT INTO webhook_told (kind, number, told_at_ms) VALUES (?1, ?2, ?3) ON CONFLICT (kind, number) "
                   "DO NOTHING");
    for (const auto number : notice.numbers) mark.bind_all(kind, number, now).run();
  });
}

void WebhookNotices::forget_what_is_over() {
  store_.run([](SQLite::Database& db) { execute(db.getHandle(), kForgetWhatIsOver); });
}

void WebhookNotices::forget(const std::vector<std::int64_t>& decided) {
  if (decided.empty()) return;
  store_.run([&](SQLite::Database& db) {
    Statement mark(db.getHandle(), "DELETE FROM webhook_told WHERE kind = 'write' AND number = ?1");
    for (const auto number : decided) mark.bind_all(number).run();
  });
}

WebhookNotice WebhookNotices::head(const Anchor& anchor) const {
  constexpr const char* kHead = "audit.head";
  return {kHead,
          {anchor.head.seq},
          body(kHead, fmt::format("The audit log stands at row {}.", anchor.head.seq),
               [&](JsonWriter& out) { put_raw(out, "head", anchor_json(anchor)); })};
}

WebhookNotice WebhookNotices::test() const {
  constexpr const char* kTest = "webhook.test";
  return {kTest, {}, body(kTest, linked("A test: this host can tell you of what waits for you."), [](JsonWriter&) {})};
}

}  // namespace krux
