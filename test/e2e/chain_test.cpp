// The rest of the safety chain: edits, undoing, limits, approvals, dead letters, and what a read shows of them.
#include <fstream>
#include <future>
#include <iterator>
#include <sstream>

#include "host/http/raw_web_socket.hpp"
#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

struct ChainRig : Rig {
  explicit ChainRig(const RigOptions& options = {}) : Rig(options) { begin(); }
  bool reaches(const std::string& id, const std::string& wanted, std::int64_t limit_ms = 120'000) {
    const bool so = pass_time([&] { return state(id) == wanted; }, limit_ms);
    UNSCOPED_INFO(text_of(write(id)));
    return so;
  }
  std::string completed(const std::string& text) {
    auto id = send(text).write_id();
    REQUIRE(reaches(id, "completed"));
    return id;
  }
  std::string ts_of(const std::string& id) { return text_at(write(id), "/write/result/ts"); }
  /// Somebody with the bot's token changes the message, as another program of theirs may.
  void change_at_service(const std::string& id) {
    const auto reply =
        slack().call("chat.update", {{"channel", kGeneral}, {"ts", ts_of(id)}, {"text", "changed by a person"}});
    REQUIRE(bool_at(parse(reply.body), "/ok"));
  }
  int code(const std::vector<std::string>& arguments) { return kruxos(arguments).status.code; }
};

/// Of JSON-RPC. The host's time stands still: who waits is answered by a decision alone.
std::string about(int id, const std::string& method, const std::string& approval_id) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method +
         R"(","params":{"approval_id":")" + approval_id + "\"}}";
}

/// What docs/cli.md's line for what waits prints, by jq itself.
std::string said_by_the_documents_line(ChainRig& rig) {
  std::ifstream document(KRUXOS_CLI_DOCUMENT);
  for (std::string line; std::getline(document, line);) {
    const auto pipe = line.find(" | jq -r '");
    if (!line.starts_with("kruxos approve list") || pipe == std::string::npos) continue;
    std::istringstream words(line.substr(7, pipe - 7));
    std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
    const auto filter = line.substr(pipe + 10, line.rfind('\'') - pipe - 10);
    Command jq;
    jq.argv = {"/usr/bin/jq", "-r", filter};
    jq.stdin_text = rig.kruxos(arguments).out;
    return run(jq).out;
  }
  return "docs/cli.md has no such line";
}

}  // namespace

TEST_CASE("a message is edited while it waits, by its agent and by the operator") {
  ChainRig rig;
  const auto sent = rig.send("Helo.");
  const auto edited =
      rig.invoke("proxy.edit_write", R"({"write_id":")" + sent.write_id() + R"(","content_hash":")" +
                                         sent.text("/content_hash") + R"(","arguments":{"text":"Hello."}})");
  INFO(text_of(edited.document));
  REQUIRE(edited.ok());
  CHECK(edited.write_id() == sent.write_id());
  CHECK(edited.text("/content_hash") != sent.text("/content_hash"));
  rig.operate({"approve", "edit", sent.write_id(), "text=Hello, everyone.", "channel=random", "--yes"});
  const auto shown = rig.kruxos({"approve", "show", sent.write_id()}).out;
  CHECK_THAT(shown, Catch::Contains("- text: Helo.") && Catch::Contains("+ text: Hello, everyone.") &&
                        Catch::Contains("agent:") && Catch::Contains("operator:"));
  REQUIRE(rig.reaches(sent.write_id(), "completed"));
  CHECK(rig.slack().effect("posts") == 1);
  CHECK(rig.posts_of("Hello, everyone.") == 1);
  CHECK(
      rig.invoke("proxy.edit_write", R"({"write_id":")" + sent.write_id() + R"(","arguments":{"text":"x"}})").error() ==
      "ConflictError");
  CHECK(rig.code({"approve", "edit", sent.write_id(), "text=x", "--yes"}) == 5);
  CHECK(rig.code({"approve", "edit", sent.write_id(), "nonsense", "--yes"}) == 2);
  rig.check_contract();
}

TEST_CASE("a message is undone by its agent, and a reaction by the operator") {
  ChainRig rig;
  const auto id = rig.completed("To be undone.");
  CHECK(rig.posts_of("To be undone.") == 1);
  const auto undone = rig.invoke("proxy.rollback", R"({"write_id":")" + id + "\"}");
  INFO(text_of(undone.document));
  REQUIRE(undone.ok());
  CHECK(undone.text("/status") == "ok");
  CHECK(rig.state(id) == "rolled_back");
  CHECK(rig.posts_of("To be undone.") == 0);
  CHECK(rig.invoke("proxy.rollback", R"({"write_id":")" + id + "\"}").error() == "RollbackConflict");

  const auto reacted =
      rig.invoke("slack.react", R"({"channel":"general","ts":"1699990000.000100","reaction":"thumbsup"})");
  REQUIRE(reacted.ok());
  CHECK(rig.slack().effect("reactions_added") == 1);
  CHECK_THAT(rig.kruxos({"approve", "rollback", reacted.write_id()}).out, Catch::Contains("is undone"));
  CHECK(rig.slack().effect("reactions_removed") == 1);
  CHECK(rig.state(reacted.write_id()) == "rolled_back");
  rig.check_contract();
}

TEST_CASE("a reaction that was there before is not taken away by an undo") {
  ChainRig rig;
  const auto reply = rig.slack().call(
      "reactions.add", {{"channel", kGeneral}, {"timestamp", "1699990000.000100"}, {"name", "thumbsup"}});
  REQUIRE(bool_at(parse(reply.body), "/ok"));
  const auto reacted =
      rig.invoke("slack.react", R"({"channel":"general","ts":"1699990000.000100","reaction":"thumbsup"})");
  REQUIRE(reacted.ok());
  const auto refused = rig.invoke("proxy.rollback", R"({"write_id":")" + reacted.write_id() + "\"}");
  CHECK(refused.error() == "RollbackConflict");
  CHECK(rig.state(reacted.write_id()) == "completed");
  CHECK(rig.slack().effect("reactions_removed") == 0);
  CHECK_THAT(rig.kruxos({"approve", "rollback", reacted.write_id(), "--force", "--yes"}).out,
             Catch::Contains("is undone"));
  CHECK(rig.slack().effect("reactions_removed") == 1);
}

TEST_CASE("a reaction whose answer was lost is undone although the bot has reacted to the message before") {
  ChainRig rig;
  const auto react = [&](const std::string& name) {
    return rig.invoke("slack.react", R"({"channel":"general","ts":"1699990000.000100","reaction":")" + name + "\"}");
  };
  REQUIRE(react("eyes").ok());
  rig.slack().fault(R"({"method":"reactions.add","kind":"reset_after"})");
  const auto lost = react("tada");
  CHECK(lost.error() == "OutcomeUnknown");
  const auto id = text_at(lost.document, "/result/error/context/write_id");
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "completed"; }));
  const auto undone = rig.invoke("proxy.rollback", R"({"write_id":")" + id + "\"}");
  INFO(text_of(undone.document));
  CHECK(undone.ok());
  CHECK(rig.state(id) == "rolled_back");
  CHECK(rig.slack().effect("reactions_removed") == 1);
}

TEST_CASE("what somebody has changed is undone only by force, and only by a person") {
  ChainRig rig;
  const auto id = rig.completed("Will be changed.");
  rig.change_at_service(id);
  const auto refused = rig.invoke("proxy.rollback", R"({"write_id":")" + id + "\"}");
  CHECK(refused.error() == "RollbackConflict");
  CHECK(rig.state(id) == "completed");
  CHECK(rig.posts_of("changed by a person") == 1);
  CHECK_FALSE(rig.invoke("proxy.rollback", R"({"write_id":")" + id + R"(","force":true})").ok());
  CHECK(rig.code({"approve", "rollback", id}) == 5);
  CHECK(rig.code({"approve", "rollback", id, "--force"}) == 0);
  CHECK(rig.posts_of("changed by a person") == 0);
  CHECK(rig.state(id) == "rolled_back");
}

TEST_CASE("an undo whose answer is lost is found, or goes to a person, and is never lost") {
  ChainRig rig;
  const auto id = rig.completed("Undone in the dark.");
  rig.slack().fault(R"({"method":"chat.delete","kind":"reset_after"})");
  const auto answer = rig.invoke("proxy.rollback", R"({"write_id":")" + id + "\"}");
  CHECK(answer.error() == "OutcomeUnknown");
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "rolled_back"; }, 300'000));
  CHECK(rig.slack().calls("chat.delete") == 1);
}

TEST_CASE("an undo is refused when its time is over") {
  ChainRig rig;
  const auto id = rig.completed("Old news.");
  for (int i = 0; i < 24; ++i) rig.advance(3'600'000);
  CHECK(rig.invoke("proxy.rollback", R"({"write_id":")" + id + "\"}").error() == "RollbackExpired");
  CHECK(rig.posts_of("Old news.") == 1);
}

TEST_CASE("a batch that grows too large waits for a person, across a restart, and who waits for him hears of it") {
  ChainRig rig;
  for (int i = 0; i < 10; ++i) REQUIRE(rig.send("news " + std::to_string(i)).text("/status") == "buffered");
  const auto eleventh = rig.send("news 10");
  CHECK(eleventh.error() == "ApprovalRequired");
  CHECK_THAT(eleventh.message(), Catch::Contains("10 in 1 h"));
  CHECK(rig.send("elsewhere", "random").ok());
  REQUIRE(rig.stop().ok());
  rig.start();
  CHECK(rig.send("news 11").error() == "ApprovalRequired");
  const auto list = rig.kruxos({"approve", "list"}).out;
  CHECK_THAT(list, Catch::Contains("Waiting for your approval") && Catch::Contains("Limits in use") &&
                       Catch::Contains("10 in 1 h") && Catch::Contains("channel " + std::string(kGeneral)));
  rig.advance(60'000);
  rig.advance(60'000);
  CHECK(rig.posts_of("news 10") == 0);
  const auto pending = rig.operate({"approve", "list"});
  std::vector<std::string> ids;
  for (const auto& write : pending["pending"].GetArray()) {
    if (text_at(write, "/state") == "pending_approval") ids.push_back(text_at(write, "/write_id"));
  }
  REQUIRE(ids.size() == 2);
  CHECK_THAT(rig.kruxos({"approve", "show", ids[0]}).out, Catch::Contains("Reach") && Catch::Contains(" member"));
  std::vector<std::string> waiting;
  for (const auto& write : pending["needs_operator"].GetArray()) waiting.push_back(text_at(write, "/write_id"));
  CHECK(waiting == ids);
  if (std::filesystem::exists("/usr/bin/jq")) {
    CHECK(said_by_the_documents_line(rig) == ids[0] + "\n" + ids[1] + "\n");
  }
  CHECK_THAT(rig.kruxos({"status"}).out,
             Catch::Contains("2 waiting for approval") && Catch::Contains("2 wait for you: kruxos approve list"));
  CHECK(number_at(rig.operate({"status"}), "/writes/needs_operator") == 2);
  const auto asked = rig.invoke("proxy.write_status", R"({"write_id":")" + ids[0] + "\"}");
  CHECK(asked.text("/status") == "pending_approval");
  CHECK(bool_at(asked.document, "/result/data/needs_operator"));
  CHECK(rig.code({"approve", "accept", "--all"}) == 2);  // a person's word is needed
  RawWebSocket socket(rig.gateway_port(), "/rpc?token=" + rig.key);
  socket.text(about(1, "approvals.wait", ids[1]));
  auto over_http = std::async(std::launch::async, [&] {
    return http_request(rig.gateway_port(), "POST", "/rpc",
                        {{"authorization", "Bearer " + rig.key}, {"content-type", "application/json"}},
                        about(2, "approvals.wait", ids[0]), milliseconds(60'000))
        .body;
  });
  const auto before = parse(socket.ask(about(3, "approvals.check", ids[1])));  // and not the other answer
  CHECK(number_at(before, "/id") == 3);
  CHECK(text_at(before, "/result/status") == "pending");
  CHECK(over_http.wait_for(milliseconds(0)) == std::future_status::timeout);
  CHECK(rig.code({"approve", "accept", ids[1], "--yes"}) == 0);
  const auto accepted = parse(socket.receive_text());
  CHECK(number_at(accepted, "/id") == 1);
  CHECK(text_at(accepted, "/result/approval_id") == ids[1]);
  CHECK((bool_at(accepted, "/result/resolved") && bool_at(accepted, "/result/approved")));
  CHECK(text_at(accepted, "/result/write/status") == "buffered");             // its window begins then
  CHECK(over_http.wait_for(milliseconds(0)) == std::future_status::timeout);  // another's decision is none of its own
  CHECK(rig.code({"approve", "reject", "--all", "--reason", "too much", "--yes"}) == 0);
  const auto rejected = parse(over_http.get());
  CHECK(text_at(rejected, "/result/status") == "rejected");
  CHECK_FALSE(bool_at(rejected, "/result/approved"));
  CHECK_THAT(text_at(rejected, "/result/reason"), Catch::Contains("too much"));
  REQUIRE(rig.reaches(ids[1], "completed"));
  CHECK(rig.state(ids[0]) == "rejected");
  CHECK(rig.posts_of("news 10") == 1);
  CHECK(rig.posts_of("news 11") == 0);
  const auto status = rig.invoke("proxy.write_status", R"({"write_id":")" + ids[0] + "\"}");
  CHECK_THAT(status.text("/error/message"), Catch::Contains("too much"));
}

TEST_CASE("accepting names what was shown") {
  ChainRig rig;
  for (int i = 0; i < 10; ++i) rig.send("news " + std::to_string(i));
  rig.send("harmless");
  const auto list = rig.operate({"approve", "list"});
  const auto& write = list["pending"][0];
  const auto id = text_at(write, "/write_id"), hash = text_at(write, "/content_hash");
  REQUIRE(text_at(write, "/state") == "pending_approval");
  REQUIRE(rig.invoke("proxy.edit_write", R"({"write_id":")" + id + R"(","arguments":{"text":"harmful"}})").ok());
  CHECK(rig.control("POST", "/writes/" + id + "/accept", R"({"content_hash":")" + hash + "\"}").status == 409);
  CHECK(rig.state(id) == "pending_approval");
}

TEST_CASE("dead letters are listed, retried and discarded, one or many") {
  ChainRig rig;
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"rate_limited","retry_after":3000,"count":0})");
  std::vector<std::string> ids;
  for (const auto* text : {"one", "two", "three"}) ids.push_back(rig.send(text).write_id());
  REQUIRE(rig.pass_time(
      [&] {
        return rig.state(ids[0]) == "dead_letter" && rig.state(ids[1]) == "dead_letter" &&
               rig.state(ids[2]) == "dead_letter";
      },
      1'800'000));  // one after the other: each holds up the next for five minutes
  const auto list = rig.kruxos({"dlq", "list"}).out;
  for (const auto& id : ids) CHECK_THAT(list, Catch::Contains(id));
  CHECK(rig.code({"dlq", "discard", ids[2], "--yes"}) == 0);
  CHECK(rig.state(ids[2]) == "discarded");
  rig.slack().clear_faults();
  for (int i = 0; i < 4; ++i) rig.advance(15 * 60'000);
  CHECK(rig.code({"dlq", "retry", "--all", "--yes"}) == 0);
  for (int i = 0; i < 2; ++i) REQUIRE(rig.reaches(ids[static_cast<std::size_t>(i)], "completed", 7'200'000));
  CHECK(rig.posts_of("one") == 1);
  CHECK(rig.posts_of("three") == 0);
  CHECK_THAT(rig.kruxos({"dlq", "list"}).out, Catch::Contains("No write is in the dead letter queue."));
  CHECK(rig.code({"dlq", "retry", ids[0], "--yes"}) == 5);
  CHECK(rig.code({"dlq", "retry", "w_none", "--yes"}) == 4);
}

TEST_CASE("a search shows what its agent has written and the replica does not have yet") {
  ChainRig rig;
  const auto sent = rig.send("Soon there.");
  rig.invoke("slack.send", R"({"channel":"random","text":"elsewhere"})");
  const auto pending = [&](const std::string& arguments) {
    const auto answer = rig.invoke("slack.search", arguments);
    std::vector<std::string> found;
    for (std::size_t i = 0; i < answer.size("/pending_writes"); ++i)
      found.push_back(answer.text("/pending_writes/" + std::to_string(i) + "/write_id"));
    return found;
  };
  CHECK(pending("{}").size() == 2);
  CHECK(pending(R"({"channel":"general"})") == std::vector<std::string>{sent.write_id()});
  CHECK(pending(R"({"channel":"C0GENERAL01"})") == std::vector<std::string>{sent.write_id()});
  const auto other = rig.new_agent("another");
  CHECK(rig.invoke_as(other, "slack.search", "{}").size("/pending_writes") == 0);
  REQUIRE(rig.reaches(sent.write_id(), "completed"));
  // Until a sync has passed the completion, then it is among the messages.
  const auto shown = [&] { return rig.invoke("slack.search", R"({"query":"Soon there"})").size("/messages") == 1; };
  REQUIRE(rig.pass_time(shown, 300'000));
  CHECK(rig.pass_time([&] { return pending(R"({"channel":"general"})").empty(); }, 300'000));
}

}  // namespace KRUXOS_TEST_FILE
