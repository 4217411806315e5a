// What Prometheus reads of a host that works, that is locked, and that is asked by many.
#include <sqlite3.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "host_fixture.hpp"
#include "metrics_page.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;
using Catch::Contains;

namespace {

constexpr const char* kText = "Nobody but the channel reads this.";
const std::string kOf = R"(service="slack"})";

/// Each collection of a host that has stopped is of another version than the adapter's, and was never filled to its
/// end.
void make_collections_unfit(const std::filesystem::path& replicas) {
  for (const auto& entry : std::filesystem::directory_iterator(replicas)) {
    if (entry.path().extension() != ".db") continue;
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open_v2(entry.path().c_str(), &db, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK);
    CHECK(sqlite3_exec(db, "UPDATE collections SET version = 0, complete = 0", nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(db);
  }
}

}  // namespace

TEST_CASE("the page of metrics shows a write, a search, a sync and a dead letter, and no content") {
  Rig rig(either_isolation());
  rig.begin();
  const auto sent = rig.send(kText);
  REQUIRE(sent.ok());
  CHECK(rig.send(kText).text("/duplicate_of") == sent.write_id());
  CHECK(rig.invoke("slack.search", R"({"query":"a query of its own"})").ok());
  CHECK_FALSE(rig.invoke("slack.serach").ok());
  CHECK(rig.invoke_as(std::string(64, 'a'), "slack.search").status == 401);
  auto page = read_metrics(rig);
  CHECK(page.status == 200);
  CHECK(page.content_type == "text/plain; version=0.0.4; charset=utf-8");
  INFO(page.brief());
  CHECK(page.at(R"(kruxos_write_acks_total{operation="slack.send",outcome="buffered",)" + kOf) == 1);
  CHECK(page.at(R"(kruxos_write_acks_total{operation="slack.send",outcome="duplicate",)" + kOf) == 1);
  CHECK(page.at("kruxos_write_ack_seconds_count{" + kOf) == 2);
  CHECK(page.at(R"(kruxos_capability_calls_total{capability="slack.search",outcome="ok",)" + kOf) == 1);
  CHECK(page.at(R"(kruxos_read_seconds_count{capability="slack.search",)" + kOf) == 1);
  CHECK(page.sum("kruxos_capability_calls_total", R"(capability="unknown")") == 1);
  CHECK(page.at(R"(kruxos_agent_requests_total{method="capabilities.invoke",outcome="ok"})") == 4);
  CHECK(page.at(R"(kruxos_agent_auth_failures_total{reason="wrong_key"})") == 1);
  CHECK(page.sum("kruxos_sync_passes_total") >= 1);
  CHECK(page.sum("kruxos_sync_records_total", R"(change="added")") == page.sum("kruxos_replica_records"));
  CHECK(page.sum("kruxos_replica_records", R"(collection="messages")") == 5);
  CHECK(page.sum("kruxos_account_up") == 1);
  CHECK(page.sum("kruxos_account_writes", R"(state="buffered")") == 1);
  CHECK(page.at(R"(kruxos_writes{state="buffered"})") == 1);
  CHECK(page.sum("kruxos_source_up") == 4);

  REQUIRE(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }));
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"rate_limited","retry_after":3000,"count":0})");
  const auto refused = rig.send("Nor this.").write_id();
  REQUIRE(rig.pass_time([&] { return rig.state(refused) == "dead_letter"; }));
  page = read_metrics(rig);
  CHECK(page.at(R"(kruxos_write_executions_total{operation="slack.send",outcome="completed",)" + kOf) == 1);
  CHECK(page.at(R"(kruxos_write_executions_total{operation="slack.send",outcome="retry",)" + kOf) >= 1);
  CHECK(page.at(R"(kruxos_adapter_calls_total{function="execute_write",outcome="ok",)" + kOf) == 1);
  CHECK(page.at(R"(kruxos_adapter_calls_total{function="execute_write",outcome="rate_limited",)" + kOf) >= 1);
  CHECK(page.sum("kruxos_service_requests_total", R"(status="2xx")") > 1);
  CHECK(page.sum("kruxos_service_requests_total", R"(status="4xx")") >= 1);
  CHECK(page.sum("kruxos_account_writes", R"(state="dead_letter")") == 1);
  CHECK(page.at(R"(kruxos_writes{state="completed"})") == 1);
  CHECK(page.sum("kruxos_quota_left_ratio", "chat.postMessage") == 0);
  CHECK(page.sum("kruxos_limit_counted", R"(per="channel")") == 2);
  CHECK(page.sum("kruxos_limit_values_full") == 0);
  CHECK(page.sum("kruxos_sync_lag_seconds") < 300);
  for (const auto* secret : {kToken, kText, "Nor this", "a query of", "serach", kGeneral, "general", "assistant"})
    CHECK_THAT(page.text, !Contains(secret));
  CHECK_THAT(page.text, !Contains(rig.key) && !Contains(sent.write_id()) && !Contains(std::string(64, 'a')));
}

TEST_CASE("what is filled anew is no fresher than the connection, and is called not whole") {
  Rig rig;
  rig.begin();
  rig.advance(3'600'000);
  const auto lag = [&] { return read_metrics(rig).sum("kruxos_sync_lag_seconds"); };
  REQUIRE(rig.pass_time([&] { return lag() < 600; }));
  CHECK_THAT(rig.kruxos({"status"}).out, !Contains("not whole yet"));
  REQUIRE(rig.stop().ok());
  make_collections_unfit(rig.data() / "replica/slack");
  rig.slack().fault(R"({"method":"conversations.history","kind":"hang","count":0})");
  rig.start();
  CHECK(lag() >= 3600);
  CHECK(number_at(rig.operate({"status"}), "/services/0/synced_at_ms") > 0);
  CHECK_THAT(rig.kruxos({"status"}).out, Contains("not whole yet"));
  CHECK_THAT(rig.kruxos({"sync", "slack"}).out, Contains("not whole yet"));
  rig.slack().clear_faults();
  rig.slack().release();
  REQUIRE(rig.pass_time([&] { return lag() < 600; }));
  CHECK_THAT(rig.kruxos({"status"}).out, !Contains("not whole yet"));
}

TEST_CASE("the page of metrics is there while the vault is locked") {
  RigOptions options;
  options.config = "vault: {protection: passphrase, argon2_passes: 1, argon2_memory_mib: 16}\n";
  Rig rig(options);
  rig.start();
  REQUIRE(rig.kruxos({"vault", "unlock"}, "a passphrase of some length\n").status.ok());
  rig.connect();
  REQUIRE(eventually([&] { return rig.synced(); }));
  CHECK(read_metrics(rig).at("kruxos_vault_locked") == 0);
  REQUIRE(rig.stop().ok());
  rig.start();
  const auto page = read_metrics(rig);
  INFO(page.brief());
  CHECK(page.at("kruxos_vault_locked") == 1);
  CHECK(page.sum("kruxos_account_up") == 0);
  CHECK(page.labels.count("kruxos_account_up") == 1);
  CHECK(page.at(R"(kruxos_alerts_open{kind="vault_locked",severity="critical"})") == 1);
  CHECK(page.sum("kruxos_source_up") == 4);
}

TEST_CASE("pages that many ask for while agents work take nothing from them") {
  Rig rig;
  rig.begin();
  std::atomic<bool> over{false};
  std::atomic<int> served{0}, refused{0}, other{0};
  std::vector<std::thread> scrapers;
  for (int i = 0; i < 12; ++i) {
    scrapers.emplace_back([&] {
      while (!over) {
        const auto status = read_metrics(rig).status;
        ++(status == 200 ? served : status == 503 ? refused : other);
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    CHECK(rig.invoke("slack.search").ok());
    CHECK(rig.invoke("slack.send", R"({"channel":"C0GENERAL01","text":"n","allow_duplicate":true})").status == 200);
  }
  CHECK(eventually([&] { return served > 20; }));
  over = true;
  for (auto& scraper : scrapers) scraper.join();
  CHECK(other == 0);
  const auto page = read_metrics(rig);
  CHECK(page.at("kruxos_write_ack_seconds_count{" + kOf) == 20);
  CHECK(page.at(R"(kruxos_read_seconds_count{capability="slack.search",)" + kOf) == 20);
}

TEST_CASE("the page of metrics answers as the health pages beside it do") {
  Rig rig;
  rig.start();
  const auto ask = [&](const std::string& method, const std::string& path, const Headers& headers) {
    return http_request(rig.health_port(), method, path, headers);
  };
  CHECK(ask("POST", "/metrics", {{"host", "localhost"}}).status == 405);
  CHECK(ask("POST", "/metrics", {{"host", "localhost"}}).header("allow") == "GET, HEAD");
  CHECK(ask("GET", "/metrics", {{"host", "evil.example"}}).status == 403);
  CHECK(ask("GET", "/metrics/", {{"host", "localhost"}}).status == 404);
  CHECK_THAT(ask("GET", "/", {{"host", "localhost"}}).body, Contains("/metrics"));
  Connection connection(rig.health_port());
  connection.send(format_request("HEAD", "/metrics", {{"host", "localhost"}}, ""));
  const auto head = connection.read_reply(true);
  CHECK(head.status == 200);
  CHECK_THAT(head.header("content-type"), Contains("version=0.0.4"));
}

TEST_CASE("without metrics nothing is counted and no page is there") {
  RigOptions options;
  options.config = "metrics: {enabled: false}\n";
  Rig rig(options);
  rig.begin();
  CHECK(rig.send(kText).ok());
  CHECK(rig.invoke("slack.search").ok());
  const auto reply = http_request(rig.health_port(), "GET", "/metrics", {{"host", "localhost"}});
  CHECK(reply.status == 404);
  CHECK(http_request(rig.health_port(), "GET", "/health", {{"host", "localhost"}}).status == 200);
}

}  // namespace KRUXOS_TEST_FILE
