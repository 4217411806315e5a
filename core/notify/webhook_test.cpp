// The outgoing webhook: a ledger, a clock that the test drives, and a receiver behind a real socket.
#include "core/notify/webhook.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <thread>

#include "core/net/test_server.hpp"
#include "core/util/json.hpp"
#include "core/write/alerts.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using test::answer;
using test::Peer;
using test::TestServer;

namespace {

constexpr const char* kKey = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

struct Received {
  std::string id, seconds, signature, body;
  std::string head;

  JsonDocument json() const { return parse_json(body, "a message"); }
  std::string type() const { return std::string(find_string(json(), "type").value_or("")); }
  std::string text() const { return std::string(find_string(json(), "text").value_or("")); }
};

std::string header(const std::string& request, const std::string& name) {
  const auto at = request.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "";
  const auto from = at + name.size() + 4;
  return request.substr(from, request.find("\r\n", from) - from);
}

struct Receiver {
  std::mutex mutex;
  std::vector<Received> all;
  std::string status = "200 OK";
  std::string more_headers, body;
  TestServer server{[this](Peer& peer, int) {
    for (auto asked = peer.read_request(); !asked.empty(); asked = peer.read_request()) {
      std::string answered;
      {
        const std::lock_guard lock(mutex);
        all.push_back({header(asked, "webhook-id"), header(asked, "webhook-timestamp"),
                       header(asked, "webhook-signature"), asked.substr(asked.find("\r\n\r\n") + 4),
                       asked.substr(0, asked.find("\r\n\r\n"))});
        answered = status;
      }
      peer.write(answer(body, answered, more_headers));
    }
  }};

  std::vector<Received> received() {
    const std::lock_guard lock(mutex);
    return all;
  }
  void answers(const std::string& with) {
    const std::lock_guard lock(mutex);
    status = with;
  }
};

struct Told : LedgerFixture {
  Receiver receiver;
  AlertStore alerts{store, clock};
  std::shared_ptr<HttpTransport> transport = make_http_transport({});
  WebhookContent content{false, "https://queue.example/"};
  std::mutex head_mutex;
  Anchor head;
  std::unique_ptr<Webhook> webhook;
  Ledger::Observation changes;

  ~Told() { stop(); }
  void start() {
    webhook = std::make_unique<Webhook>(
        store, alerts, clock, transport, WebhookKey(Secret(kKey)),
        WebhookOptions{parse_url(receiver.server.url("/hooks/T0PSECRET")), content, [this] { return newest_head(); }});
    changes = ledger->observe([this](const WriteRecord& write) { webhook->changed(write); });
    webhook->start();
  }
  Anchor newest_head() {
    const std::lock_guard lock(head_mutex);
    return head;
  }
  void anchored(std::int64_t seq) {
    const std::lock_guard lock(head_mutex);
    head.log_id = "log_1";
    head.head.seq = seq;
  }
  void stop() {
    changes = {};
    webhook.reset();
  }
  /// Moves the clock to each next thing that the webhook waits for, until it has come to that; false: it did not.
  bool until(const std::function<bool()>& reached, std::int64_t most_ms = 200'000) {
    const auto end = clock.boot_ms() + most_ms;
    for (int i = 0; i < 20'000 && !reached(); ++i) {
      if (clock.waiters() > 0 && store_rests()) {
        if (clock.boot_ms() >= end) return reached();
        // It may have gone on meanwhile, and wait for nothing.
        const auto next = clock.next_wake_boot_ms();
        if (next != INT64_MAX) clock.advance(std::max<std::int64_t>(1, next - clock.boot_ms()));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return reached();
  }
  /// What was posted to the store before is in.
  bool store_rests() {
    store.run([](SQLite::Database&) {});
    return true;
  }
  bool delivered(std::int64_t count, std::int64_t most_ms = 200'000) {
    return until([&] { return webhook->status().delivered >= count; }, most_ms);
  }
  WriteRecord waiting(const std::string& text) {
    auto write = immediate(text);
    write.approval_reason = "The rule asks.";
    write.summary = "#general: " + text;
    return submit(std::move(write)).write;
  }
  void reject(const WriteRecord& write) {
    REQUIRE(std::holds_alternative<WriteRecord>(
        ask<WriteRecord>([&](auto done) { ledger->reject(write.write_id, "no", "operator:ann", std::move(done)); })));
  }
};

std::vector<std::string> ids_of(const Received& message, const char* list, const char* member) {
  const auto json = message.json();
  const auto* data = find_member(json, "data");
  REQUIRE(data);
  const auto* items = find_member(*data, list);
  REQUIRE(items);
  std::vector<std::string> ids;
  for (const auto& item : items->GetArray()) ids.emplace_back(find_string(item, member).value_or(""));
  return ids;
}

std::vector<std::string> open_kinds(const AlertStore& alerts) {
  std::vector<std::string> kinds;
  for (const auto& alert : alerts.list(true)) kinds.push_back(alert.kind);
  return kinds;
}

}  // namespace

TEST_CASE("what waits for a person is told once, signed, and without its content", "[webhook]") {
  Told f;
  const auto first = f.waiting("the secret plan"), second = f.waiting("another one");
  f.start();
  REQUIRE(f.delivered(1));
  const auto all = f.receiver.received();
  REQUIRE(all.size() == 1);
  const auto& message = all.front();
  CHECK(message.type() == "approval.waiting");
  CHECK(ids_of(message, "writes", "write_id") == std::vector<std::string>{first.write_id, second.write_id});
  CHECK(message.text() == "2 writes wait for a decision, the first: " + first.operation + " by " + first.agent_id +
                              ". https://queue.example/");
  CHECK(message.body.find("secret plan") == std::string::npos);
  CHECK(message.body.find("The rule asks") == std::string::npos);
  CHECK(WebhookKey(Secret(kKey)).sign(message.id, std::stoll(message.seconds), message.body) == message.signature);
  CHECK(std::stoll(message.seconds) == f.clock.wall_ms() / 1000);
  CHECK_THAT(message.head,
             Catch::StartsWith("POST /hooks/T0PSECRET HTTP/1.1") && Catch::Contains("Content-Type: application/json"));

  // Nothing new: nothing is said, by the next run neither.
  f.clock.advance(60'000);
  f.stop();
  f.start();
  const auto third = f.waiting("a third");
  REQUIRE(f.delivered(1));
  CHECK(ids_of(f.receiver.received().back(), "writes", "write_id") == std::vector<std::string>{third.write_id});
  CHECK(f.receiver.received().size() == 2);
}

TEST_CASE("the content goes out where the operator wants it", "[webhook]") {
  Told f;
  f.content = {true, ""};
  f.waiting("the plan");
  f.start();
  REQUIRE(f.delivered(1));
  const auto message = f.receiver.received().front();
  CHECK(ids_of(message, "writes", "summary") == std::vector<std::string>{"#general: the plan"});
  CHECK(ids_of(message, "writes", "reason") == std::vector<std::string>{"The rule asks."});
  CHECK_THAT(message.text(), Catch::Contains("#general: the plan") && Catch::Contains("kruxos approve list"));
}

TEST_CASE("a flood of approvals is one message", "[webhook]") {
  Told f;
  std::vector<std::string> first;
  for (int i = 0; i < 50; ++i) {
    const auto write = f.waiting("number " + std::to_string(i));
    if (i < 20) first.push_back(write.write_id);
  }
  f.start();
  REQUIRE(f.delivered(1));
  f.clock.advance(60'000);
  f.alerts.raise({"critical", "retries_used_up", "notes", "N1", "", "Look."});
  REQUIRE(f.delivered(2));
  const auto all = f.receiver.received();
  REQUIRE(all.size() == 2);
  CHECK(ids_of(all[0], "writes", "write_id") == first);
  CHECK_THAT(all[0].body, Catch::Contains(R"("more":30)"));
  CHECK(all[1].type() == "alert.raised");
  CHECK(ids_of(all[1], "alerts", "kind") == std::vector<std::string>{"retries_used_up"});
  CHECK(all[1].body.find("Look.") == std::string::npos);
}

TEST_CASE("a receiver that fails is asked again, with the same message, and less and less often", "[webhook]") {
  Told f;
  f.receiver.answers("503 Service Unavailable");
  const auto write = f.waiting("x");
  f.start();
  REQUIRE(f.until([&] { return f.webhook->status().failures >= Webhook::kFailuresUntilAlert; }));
  const auto status = f.webhook->status();
  CHECK_THAT(status.problem, Catch::Contains("answered with status 503") && !Catch::Contains("T0PSECRET"));
  CHECK(status.failing_since_ms > 0);
  const auto tried = f.receiver.received();
  REQUIRE(tried.size() == 5);
  for (const auto& one : tried) {
    CHECK(one.id == tried.front().id);
    CHECK(one.body == tried.front().body);
  }
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 1; i < tried.size(); ++i)
    gaps.push_back(std::stoll(tried[i].seconds) - std::stoll(tried[i - 1].seconds));
  for (std::size_t i = 0; i < gaps.size(); ++i) CHECK(gaps[i] >= 5 << i);
  CHECK(f.until([&] {
    return open_kinds(f.alerts) == std::vector<std::string>{"webhook_failing", "approval_waiting"};
  }));

  f.receiver.answers("204 No Content");
  REQUIRE(f.delivered(1, 1'000'000));
  CHECK(f.webhook->status().failures == 0);
  CHECK(f.receiver.received().back().id == tried.front().id);
  CHECK(f.until([&] { return open_kinds(f.alerts) == std::vector<std::string>{"approval_waiting"}; }));
}

TEST_CASE("what was decided meanwhile is not told, and what waits once more is", "[webhook]") {
  Told f;
  f.receiver.answers("500 Oh");
  const auto decided = f.waiting("decided"), stays = f.waiting("stays");
  f.start();
  REQUIRE(f.until([&] { return f.webhook->status().failures == 1; }));
  f.reject(decided);
  f.receiver.answers("200 OK");
  REQUIRE(f.delivered(1, 1'000'000));
  const auto all = f.receiver.received();
  CHECK(ids_of(all.back(), "writes", "write_id") == std::vector<std::string>{stays.write_id});
  CHECK(all.back().id != all.front().id);

  auto again = stays;
  again.approval_resolved = true;
  f.webhook->changed(again);
  again.approval_resolved = false;
  f.webhook->changed(again);  // a rule has asked about it once more
  REQUIRE(f.delivered(2));
  CHECK(ids_of(f.receiver.received().back(), "writes", "write_id") == std::vector<std::string>{stays.write_id});
}

TEST_CASE("what failed and was decided meanwhile leaves nothing to try, and nothing to do", "[webhook]") {
  Told f;
  f.receiver.answers("503 No");
  const auto write = f.waiting("x");
  f.start();
  REQUIRE(f.until([&] { return f.webhook->status().failures == 1; }));
  f.reject(write);
  const auto begun = f.clock.boot_ms();
  f.until([] { return false; }, 60'000);
  CHECK(f.clock.boot_ms() >= begun + 60'000);  // it waits: a thread that never does lets no time pass
  CHECK(f.receiver.received().size() == 1);
  f.receiver.answers("200 OK");
  f.waiting("y");
  CHECK(f.delivered(1));
}

TEST_CASE("what was decided while nobody looked is news when it waits once more", "[webhook]") {
  Told f;
  const auto write = f.waiting("x");
  f.start();
  REQUIRE(f.delivered(1));
  const auto state = [&](const char* now) {
    f.stop();
    f.store.run([&](SQLite::Database& db) {
      Statement change(db.getHandle(), "UPDATE writes SET state = ?1 WHERE write_id = ?2");
      change.bind_all(now, write.write_id).run();
    });
    f.start();
  };
  state("buffered");
  state("pending_approval");
  CHECK(f.delivered(1));
  CHECK(f.receiver.received().size() == 2);
}

TEST_CASE("a message is taken by its status, whatever else is answered", "[webhook]") {
  Told f;
  f.receiver.body = std::string(200'000, 'x');
  f.waiting("x");
  f.start();
  CHECK(f.delivered(1));
  CHECK_FALSE(f.delivered(2));
  CHECK(f.receiver.received().size() == 1);
}

TEST_CASE("words of agents are no links or mentions in the chat that shows them", "[webhook]") {
  Told f;
  f.content = {true, ""};
  f.waiting("<https://evil.example/|Approve & go> <!channel>");
  f.start();
  REQUIRE(f.delivered(1));
  const auto message = f.receiver.received().front();
  CHECK_THAT(message.text(), Catch::Contains("&lt;https://evil.example/|Approve &amp; go&gt; &lt;!channel&gt;") &&
                                 !Catch::Contains("<"));
  CHECK(ids_of(message, "writes", "summary").front().find("<!channel>") != std::string::npos);
}

TEST_CASE("what was delivered and cannot be noted is not delivered again and again", "[webhook]") {
  Told f;
  f.store.run([](SQLite::Database& db) {
    execute(db.getHandle(),
            "CREATE TRIGGER full BEFORE INSERT ON webhook_told BEGIN SELECT RAISE(ABORT, 'no space'); END");
  });
  f.waiting("x");
  f.start();
  REQUIRE(f.delivered(1));
  CHECK_FALSE(f.delivered(2));
  f.waiting("y");
  CHECK_FALSE(f.delivered(2));
  CHECK(f.receiver.received().size() == 1);
  f.store.run([](SQLite::Database& db) { execute(db.getHandle(), "DROP TRIGGER full"); });
  CHECK(f.delivered(2));
  CHECK_FALSE(f.delivered(3));
}

TEST_CASE("a test that gets through lets what waits for its next try go at once", "[webhook]") {
  Told f;
  f.receiver.answers("503 No");
  const auto write = f.waiting("x");
  f.start();
  REQUIRE(f.until([&] { return f.webhook->status().failures == 6; }, 1'000'000));
  f.receiver.answers("200 OK");
  const auto before = f.clock.boot_ms();
  CHECK_FALSE(f.webhook->test());
  CHECK(f.webhook->status().failures == 0);
  const auto settled = [&] { return open_kinds(f.alerts) == std::vector<std::string>{"approval_waiting"}; };
  for (int i = 0; i < 5'000 && (f.webhook->status().delivered < 2 || !settled()); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(f.webhook->status().delivered == 2);
  CHECK(settled());
  CHECK(f.clock.boot_ms() == before);
  CHECK(f.receiver.received().back().type() == "approval.waiting");
}

TEST_CASE("a redirect is not followed, and an answer's words are not repeated", "[webhook]") {
  Told f;
  Receiver elsewhere;
  f.receiver.more_headers = "Location: " + elsewhere.server.url("/") + "\r\n";
  f.receiver.answers("307 Do as I say");
  f.start();
  const auto problem = f.webhook->test();
  REQUIRE(problem);
  CHECK_THAT(*problem, Catch::Contains("status 307") && Catch::Contains("a redirect is not followed") &&
                           !Catch::Contains("Do as I say"));
  CHECK(elsewhere.server.connections() == 0);
  f.receiver.answers("200 OK");
  CHECK_FALSE(f.webhook->test());
  CHECK(f.receiver.received().back().type() == "webhook.test");
}

TEST_CASE("a receiver that is not there, or says nothing, does not hold up the host's end", "[webhook]") {
  Told f;
  const TestServer silent([](Peer& peer, int) {
    peer.read_request();
    peer.wait_closed();
  });
  f.waiting("x");
  Webhook webhook(f.store, f.alerts, f.clock, f.transport, WebhookKey(Secret(kKey)),
                  {parse_url(silent.url("/")), {}, {}});
  webhook.start();
  REQUIRE(f.until([&] { return silent.connections() == 1; }));
  webhook.stop();
  CHECK(webhook.test() == "The host stops.");

  Webhook refused(f.store, f.alerts, f.clock, f.transport, WebhookKey(Secret(kKey)),
                  {parse_url("http://127.0.0.1:" + std::to_string(test::refusing_port()) + "/x"), {}, {}});
  CHECK_THAT(refused.test().value_or(""), Catch::Contains("cannot be reached"));
}

TEST_CASE("signed heads of the audit log go out once an hour, where there is a new one", "[webhook]") {
  Told f;
  f.start();
  f.anchored(7);
  REQUIRE(f.delivered(1));
  const auto message = f.receiver.received().front();
  CHECK(message.type() == "audit.head");
  const auto json = message.json();
  CHECK(to_json(*find_member(*find_member(json, "data"), "head")) == anchor_json(f.newest_head()));
  CHECK_FALSE(f.delivered(2, 30'000));
  f.clock.advance(Webhook::kHeadsEveryMs);
  CHECK_FALSE(f.delivered(2, 30'000));
  f.anchored(8);
  CHECK(f.delivered(2));
}

}  // namespace KRUXOS_TEST_FILE
