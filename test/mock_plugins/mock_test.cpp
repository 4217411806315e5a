// An agent's test against a mock, as docs/testing.md has it: the host is the real one, the adapter does what a file
// says.
#include <fstream>

#include "e2e/host_fixture.hpp"
#include "support/safe_file.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

struct MockRig : Rig {
  explicit MockRig(RigOptions options = {}) : Rig(std::move(options)) {
    take_place();
    support::copy_safe(KRUXOS_MOCK_EXAMPLE, path("adapters/slack.mock.json"));
    begin();
  }
  void take_place() {
    std::filesystem::remove(path("adapters/slack.so"));
    support::copy_safe(KRUXOS_MOCK_ADAPTER, path("adapters/slack.so"));
  }
  bool reaches(const std::string& id, const std::string& wanted, std::int64_t limit_ms = 300'000) {
    const bool so = pass_time([&] { return state(id) == wanted; }, limit_ms);
    UNSCOPED_INFO(text_of(write(id)));
    return so;
  }
  /// How often the journal has that text as done.
  int effects(const std::string& text) {
    std::ifstream journal(path("adapters/slack.mock.json.journal"));
    int count = 0;
    for (std::string line; std::getline(journal, line);) {
      const auto entry = parse(line);
      count += bool_at(entry, "/effect") && text_at(entry, "/call") == "execute_write" &&
                       text_at(entry, "/params/text") == text
                   ? 1
                   : 0;
    }
    return count;
  }
};

}  // namespace

TEST_CASE("a mock takes the place of a service's adapter") {
  MockRig rig;
  CHECK(rig.slack().calls("auth.test") == 0);
  CHECK(rig.invoke("slack.channels").text("/channels/0/name") == "general");
  CHECK(rig.invoke("slack.search", R"({"query":"nothing"})").number("/total") == 0);
  CHECK(rig.invoke("slack.search", R"({"query":"other"})").text("/messages/0/text") == "hello");
  CHECK_THAT(rig.invoke("slack.read", R"({"message_id":"C1/1"})").message(), Catch::Contains("no rule for a read"));
  const auto id = rig.send("fine").write_id();
  REQUIRE(rig.reaches(id, "completed"));
  CHECK(rig.effects("fine") == 1);
  CHECK(rig.invoke("proxy.rollback", R"({"write_id":")" + id + "\"}").ok());
}

TEST_CASE("a script's faults lead through the real safety chain") {
  MockRig rig;
  const auto refused = rig.send("refused").write_id(), later = rig.send("later").write_id(),
             lost = rig.send("lost").write_id(), vanished = rig.send("vanished").write_id(),
             garbage = rig.send("garbage").write_id(), changed = rig.send("changed").write_id();
  REQUIRE(rig.reaches(refused, "failed"));
  REQUIRE(rig.reaches(later, "completed"));
  REQUIRE(rig.reaches(lost, "completed"));
  REQUIRE(rig.pass_time([&] { return rig.told(vanished); }, 600'000));
  // No JSON is no proof of success: it is looked for, and found in the journal, whose answer is none either.
  REQUIRE(rig.pass_time([&] { return rig.told(garbage) || rig.state(garbage) == "completed"; }, 3'600'000));
  for (const auto* text : {"later", "lost"}) CHECK(rig.effects(text) == 1);
  for (const auto* text : {"refused", "vanished"}) CHECK(rig.effects(text) == 0);
  REQUIRE(rig.reaches(changed, "completed"));
  CHECK(rig.invoke("proxy.rollback", R"({"write_id":")" + changed + "\"}").error() == "RollbackConflict");
}

TEST_CASE("a mock that crashes in its own process costs one call, and what it has done is found") {
  RigOptions options;
  options.service = "    isolation: process\n";
  MockRig rig(options);
  const auto crash = rig.send("crash").write_id();
  REQUIRE(rig.reaches(crash, "unknown"));
  // Until the process may be started again, its service is unavailable.
  Answer sent;
  const auto longer = std::string(20'000, 'x') + "\xf0\x9f\x98\x80";
  REQUIRE(rig.pass_time([&] { return (sent = rig.send(longer)).ok(); }, 60'000, 1'000));
  REQUIRE(rig.reaches(sent.write_id(), "completed"));
  CHECK(rig.effects(longer) == 1);
  // Its next process reads in the journal what it did.
  REQUIRE(rig.reaches(crash, "completed"));
  CHECK(rig.effects("crash") == 1);
  CHECK(rig.alive());
  CHECK_THAT(rig.log(), !Catch::Contains("kruxos-mock-journal"));
}

TEST_CASE("the journal has values, and failures with what they are") {
  MockRig rig;
  for (const auto* text : {"refused", "lost", "fine", "garbage"}) rig.send(text);
  const auto entry = [&](const std::string& text) {
    std::ifstream journal(rig.path("adapters/slack.mock.json.journal"));
    for (std::string line; std::getline(journal, line);) {
      if (line.find("\"" + text + "\"") != std::string::npos) return line;
    }
    return std::string("{}");
  };
  REQUIRE(rig.pass_time([&] { return entry("garbage") != "{}" && entry("fine") != "{}" && entry("lost") != "{}"; }));
  CHECK_THAT(entry("fine"), Catch::Contains(R"("effect":true,"answer":{"status":"ok"})"));
  CHECK_THAT(
      entry("refused"),
      Catch::Contains(
          R"("effect":false,"error":{"status":"refused","message":"There is no such channel.","effect":"none"}})"));
  CHECK_THAT(entry("lost"),
             Catch::Contains(R"("effect":true,"error":{"status":"network")") && !Catch::Contains("answer\":"));
  CHECK_THAT(entry("garbage"), Catch::Contains(R"("raw":"this is no JSON")"));
}

TEST_CASE("a script that breaks while the host runs is told of, and one that contradicts its definition refused") {
  MockRig rig;
  std::ofstream(rig.path("adapters/slack.mock.json")) << "{\n  broken";
  std::filesystem::last_write_time(rig.path("adapters/slack.mock.json"),
                                   std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
  CHECK(rig.invoke("slack.channels").text("/channels/0/name") == "general");
  // What the host says comes through a pipe.
  CHECK(eventually([&] {
    const auto log = rig.log();
    return log.find("The script of before stays in use") != std::string::npos &&
           log.find("In line 2") != std::string::npos;
  }));
  rig.stop();
  std::ofstream(rig.path("adapters/slack.mock.json")) << "{\"service\": \"slack\", \"version\": \"0.1.0\", \"rules\": "
                                                         "[\n{\"call\": \"read\", \"operation\": \"slack.serch\"}]}";
  rig.start();
  CHECK_THAT(rig.kruxos({"plugin", "list"}).out,
             Catch::Contains("refused") &&
                 Catch::Contains("slack.mock.json:2: The definition of slack has no read \"slack.serch\""));
}

namespace {

std::string words(const krux::test::Json& alerts) {
  return text_of(alerts);
}

/// With the real adapter at first.
struct SwapRig : Rig {
  void put_mock() {
    std::filesystem::remove(path("adapters/slack.so"));
    support::copy_safe(KRUXOS_MOCK_ADAPTER, path("adapters/slack.so"));
    // It claims to be for the very account that is connected.
    std::ofstream(path("adapters/slack.mock.json")) << script;
  }
  void put_real() {
    std::filesystem::remove(path("adapters/slack.so"));
    support::copy_safe(KRUXOS_SLACK_ADAPTER, path("adapters/slack.so"));
  }
  void restart() {
    stop();
    start();
  }
  std::string connection(const char* member) {
    const auto status = operate({"connect", "status"});
    return text_at(status, std::string("/connections/0/") + member);
  }
  std::string journal() const {
    std::ifstream file(path("adapters/slack.mock.json.journal"));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string script;
};

constexpr const char* kForAnotherAccount = R"({"service": "slack", "version": "0.1.0",
  "account": {"account_id": "T0OTHER", "principal": "U1"}})";

}  // namespace

TEST_CASE("a write that was accepted for the real adapter is not carried out by a mock in its place") {
  SwapRig rig;
  rig.begin();
  CHECK(rig.connection("adapter") == "plugin");
  const auto team = rig.connection("account_id");
  const auto waiting = rig.send("for the real one").write_id();
  rig.script = R"({"service": "slack", "version": "0.1.0", "account": {"account_id": ")" + team + "\"}}";
  rig.put_mock();
  rig.restart();
  rig.advance(120'000);
  CHECK(rig.state(waiting) == "buffered");
  CHECK(rig.journal().empty());
  CHECK(rig.posts_of("for the real one") == 0);
  CHECK(rig.connection("state") == "not served");
  CHECK_THAT(
      words(rig.operate({"alerts"})),
      Catch::Contains("account_not_served") &&
          Catch::Contains("was connected through the adapter of the plugins directory, and this host runs a mock"));
  const auto read = rig.invoke("slack.channels");
  CHECK(read.error() == "ServiceUnavailable");
  CHECK_THAT(read.message(), Catch::Contains("this host runs a mock in its place"));
  CHECK_THAT(rig.log(), Catch::Contains("is a mock: "));
  CHECK_THAT(rig.kruxos({"plugin", "list"}).out, Catch::Contains("mock"));
  // Nor does it take the connection over, whoever it says that the token belongs to.
  const auto refused = rig.kruxos({"connect", "slack"}, std::string(kToken) + "\n");
  CHECK_FALSE(refused.status.ok());
  CHECK_THAT(refused.err, Catch::Contains("may not take that connection over"));

  rig.put_real();
  rig.restart();
  REQUIRE(rig.pass_time([&] { return rig.state(waiting) == "completed"; }));
  CHECK(rig.posts_of("for the real one") == 1);
  CHECK(rig.connection("state") == "connected");
  CHECK(rig.invoke("slack.search", R"({"query":"for the real one"})").ok());
  CHECK(rig.journal().empty());
  CHECK_THAT(words(rig.operate({"alerts"})), !Catch::Contains("account_not_served"));
}

TEST_CASE(
    "what was connected through a mock is not the real adapter's either, and its token is revoked by nobody else") {
  SwapRig rig;
  rig.script = kForAnotherAccount;
  rig.put_mock();
  rig.begin();
  CHECK(rig.connection("adapter") == "mock");
  const auto waiting = rig.send("for the mock").write_id();
  rig.put_real();
  rig.restart();
  rig.advance(120'000);
  CHECK(rig.state(waiting) == "buffered");
  CHECK(rig.posts_of("for the mock") == 0);
  const auto refused = rig.kruxos({"disconnect", "slack", "--yes"});
  CHECK_FALSE(refused.status.ok());
  CHECK(rig.slack().calls("auth.revoke") == 0);
  CHECK(rig.connection("state") == "not served");
}

TEST_CASE("a mock's write waits for the mock") {
  SwapRig rig;
  rig.script = kForAnotherAccount;
  rig.put_mock();
  rig.begin();
  const auto waiting = rig.send("for the mock").write_id();
  rig.put_real();
  rig.restart();
  rig.advance(120'000);
  rig.put_mock();
  rig.restart();
  REQUIRE(rig.pass_time([&] { return rig.state(waiting) == "completed"; }));
  CHECK_THAT(rig.journal(), Catch::Contains("for the mock"));
}

TEST_CASE("an adapter with other collections: its reads claim no freshness that is not there") {
  const auto script = [](const std::string& collections, const std::string& rule) {
    return R"({"service": "slack", "version": "0.1.0", "account": {"account_id": "T0MOCK"},
      "collections": [)" +
           collections + R"(], "records": [{"collection": "a", "id": "1", "json": {}, "order_ms": 1}],
      "rules": [)" +
           rule + R"({"call": "read", "answer": {"channels": []}}]})";
  };
  constexpr const char* kFails = R"({"call": "full_sync", "error": {"status": "unavailable"}},)";
  SwapRig rig;
  rig.script = script(R"({"name": "a", "version": 1})", "");
  rig.put_mock();
  rig.begin();
  const auto synced_at = [&] { return rig.invoke("slack.channels").text("/freshness/synced_at"); };
  const auto records = [&] { return text_of(rig.operate({"sync", "slack"})); };
  const auto first = synced_at();
  REQUIRE_FALSE(first.empty());
  rig.script = script(R"({"name": "a", "version": 2})", kFails);
  rig.put_mock();
  rig.restart();
  rig.advance(60'000);
  CHECK(synced_at() == first);
  CHECK_THAT(records(), Catch::Contains(R"("records":{"a":1},"building":{"a":0})"));
  rig.script = script(R"({"name": "a", "version": 2}, {"name": "b"})", kFails);
  rig.put_mock();
  rig.restart();
  rig.advance(60'000);
  const auto answer = rig.invoke("slack.channels");
  REQUIRE(answer.ok());
  CHECK(answer.text("/freshness/synced_at").empty());
  CHECK(answer.text("/freshness/complete_through").empty());
  rig.script = script(R"({"name": "a", "version": 2}, {"name": "b"})", "");
  rig.put_mock();
  rig.restart();
  REQUIRE(rig.pass_time([&] { return !synced_at().empty(); }));
  CHECK(synced_at() > first);
  CHECK_THAT(records(), Catch::Contains(R"("records":{"a":1,"b":0})") && !Catch::Contains("building"));
}

TEST_CASE("a mock without its script is refused with a sentence") {
  Rig rig;
  std::filesystem::remove(rig.path("adapters/slack.so"));
  support::copy_safe(KRUXOS_MOCK_ADAPTER, rig.path("adapters/slack.so"));
  rig.start();
  CHECK_THAT(rig.kruxos({"plugin", "list"}).out, Catch::Contains("refused"));
}

}  // namespace KRUXOS_TEST_FILE
