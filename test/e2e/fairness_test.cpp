// One agent does its worst; the others' calls, due writes and syncs go on as if it were not there.
#include <fstream>

#include "gmail_rig.hpp"
#include "host_fixture.hpp"
#include "stuck_service.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

/// `count` calls at once, in one message of an agent that does not wait for the answer.
class Flood {
 public:
  Flood(const HostRig& rig, const std::string& key, const std::string& capability, const std::string& arguments,
        int count)
      : connection_(rig.gateway_port(), milliseconds(60'000)) {
    std::string body;
    for (int i = 0; i < count; ++i) {
      body += (i == 0 ? "[" : ",");
      body += R"({"jsonrpc":"2.0","id":)" + std::to_string(i) +
              R"(,"method":"capabilities.invoke","params":{"capability":")" + capability + R"(","arguments":)" +
              arguments + "}}";
    }
    connection_.send(format_request(
        "POST", "/rpc", {{"authorization", "Bearer " + key}, {"content-type", "application/json"}}, body + "]"));
  }
  Json answers() { return parse(connection_.read_reply().body); }

 private:
  Connection connection_;
};

int count_of(const Json& answers, const std::string& pointer, const std::string& value) {
  int count = 0;
  for (const auto& answer : answers.GetArray()) count += text_at(answer, pointer) == value ? 1 : 0;
  return count;
}

int succeeded(const Json& answers) {
  int count = 0;
  for (const auto& answer : answers.GetArray()) count += bool_at(answer, "/result/success") ? 1 : 0;
  return count;
}

std::string by_id(const std::string& id) {
  return R"({"message_id":")" + id + "\"}";
}

}  // namespace

TEST_CASE("while an agent's reads hang at the service, others read, search and write, and what is due goes out") {
  RigOptions options;
  options.service = "    sync_interval_seconds: 5\n";
  GmailRig rig(either_isolation(options));
  rig.begin();
  const auto other = rig.new_agent("other");
  const auto mail = R"({"to":"dora@example.org","subject":"On time","body":"Yes."})";
  const auto sent = rig.invoke_as(other, "email.send", mail);
  INFO(text_of(sent.document));
  REQUIRE(sent.ok());
  const auto due_ms = rig.now_ms() + 300'000;
  while (rig.now_ms() < due_ms - 5'000) rig.advance(5'000);
  CHECK(rig.sent_of("On time") == 0);

  rig.service().fault(R"({"method":"gmail.users.messages.get","kind":"hang","count":0,"when":{"id":")" + rig.invoice +
                      "\"}}");
  const Flood flood(rig, rig.key, "email.read", by_id(rig.invoice), 60);
  REQUIRE(eventually([&] { return rig.service().hanging() >= 3; }));
  const auto found = rig.invoke_as(other, "email.search", R"({"query":"bridge"})");
  INFO(text_of(found.document));
  CHECK(found.ok());
  CHECK(rig.invoke_as(other, "proxy.list_writes").ok());
  CHECK(rig.invoke_as(other, "email.read", by_id(rig.bridge)).ok());  // which asks the same service
  CHECK(rig.invoke("email.search", R"({"query":"bridge"})").ok());    // of the agent itself, reads that ask alone wait
  CHECK(rig.invoke_as(other, "email.draft", mail).ok());
  const auto id = rig.deliver("Came meanwhile");
  const auto is_new = [&] {
    return rig.invoke_as(other, "email.search", R"({"query":"meanwhile"})").size("/messages");
  };
  CHECK(rig.pass_time([&] { return is_new() == 1; }, 20'000, 1'000));
  CHECK(rig.state(sent.write_id()) == "completed");
  CHECK(rig.now_ms() <= due_ms + 20'000);
  CHECK(rig.sent_of("On time") == 1);
  CHECK(rig.service().hanging() >= 3);
  rig.service().clear_faults();
  rig.service().release();
}

TEST_CASE("reads that wait for the service's quota keep nobody from anything, and are answered when there is some") {
  RigOptions options;
  options.service = "    quota: [{match: gmail/v1/users/me/messages/*, per_minute: 120, burst: 60, cost: 20}]\n";
  GmailRig rig(options);
  rig.begin();
  const auto other = rig.new_agent("other");
  std::vector<std::string> ids;
  for (int i = 0; i < 8; ++i) ids.push_back(rig.deliver("Mail " + std::to_string(i)));
  REQUIRE(rig.pass_time([&] { return rig.is_true(); }, 600'000));
  rig.advance(70'000);
  for (std::size_t i = 0; i < 3; ++i) CHECK(rig.invoke("email.read", by_id(ids[i])).ok());
  std::vector<Flood> waiting;
  for (std::size_t i = 3; i < 6; ++i) waiting.emplace_back(rig, rig.key, "email.read", by_id(ids[i]), 1);
  rig.settle();
  CHECK(rig.invoke_as(other, "email.search", R"({"query":"bridge"})").ok());
  CHECK(rig.invoke("proxy.list_writes").ok());
  const auto sent =
      rig.invoke_as(other, "email.send", R"({"to":"dora@example.org","subject":"On time","body":"Yes."})");
  REQUIRE(sent.ok());
  // One request in ten seconds: each of them is answered in time or told when to come back.
  for (int i = 0; i < 45; ++i) rig.advance(1'000);
  int read = 0;
  for (auto& one : waiting) {
    const auto answers = one.answers();
    INFO(text_of(answers));
    read += succeeded(answers);
    CHECK((succeeded(answers) == 1 || number_at(answers[0], "/result/error/retry_after") > 0));
  }
  CHECK(read >= 2);
  CHECK(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }, 320'000, 5'000));
}

TEST_CASE("an adapter that takes its time with one agent's calls leaves the others theirs") {
  const bool isolated = GENERATE(false, true);
  CAPTURE(isolated);
  Rig rig;
  begin_with_stuck(rig, isolated);
  const auto other = rig.new_agent("other");
  REQUIRE(rig.invoke("stuck.read").ok());
  std::ofstream(rig.path("stuck")) << "";
  Flood flood(rig, rig.key, "stuck.read", "{}", 64);
  rig.settle();
  // Three calls: of the ledger, of another service, and of the operator.
  CHECK(rig.invoke_as(other, "proxy.list_writes").ok());
  CHECK(rig.invoke_as(other, "slack.channels").ok());
  const auto sent = rig.invoke_as(other, "slack.send", R"({"channel":"general","text":"On time."})");
  REQUIRE(sent.ok());
  CHECK(rig.operate({"approve", "show", sent.write_id()}).IsObject());
  std::filesystem::remove(rig.path("stuck"));
  CHECK(succeeded(flood.answers()) == 64);
  CHECK(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }, 60'000, 1'000));
}

TEST_CASE("what an agent sends too much of is refused as its own, with when to come back") {
  GmailRig rig;
  rig.begin();
  const auto other = rig.new_agent("other");
  rig.service().fault(R"({"method":"gmail.users.messages.get","kind":"hang","count":0})");
  std::vector<Flood> floods;
  for (int i = 0; i < 3; ++i) floods.emplace_back(rig, rig.key, "email.read", by_id(rig.invoice), 60);
  REQUIRE(eventually([&] { return rig.service().hanging() >= 3; }));
  rig.settle();
  CHECK(rig.invoke_as(other, "email.search", R"({"query":"bridge"})").ok());
  // Those whose turn does not come are told so, and what was before them.
  for (int i = 0; i < 40; ++i) rig.advance(1'000);
  rig.service().clear_faults();
  rig.service().release();
  const auto answers = floods[0].answers();
  INFO(text_of(answers));
  CHECK(count_of(answers, "/result/error/type", "Timeout") >= 50);
  const auto last = text_at(answers[answers.Size() - 1], "/result/error/message");
  CHECK_THAT(last, Catch::Contains("waited") && Catch::Contains("calls of the same agent were under way"));
  CHECK(number_at(answers[answers.Size() - 1], "/result/error/retry_after") == 1);
}

}  // namespace KRUXOS_TEST_FILE
