// What an agent may not do, and how it is told.
#include <fstream>
#include <sstream>

#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

// The definition with the capability's tier changed.
void set_tier(Rig& rig, const std::string& capability, const std::string& tier) {
  const auto file = rig.path("definitions/slack.yaml");
  std::ifstream in(file);
  std::stringstream all;
  all << in.rdbuf();
  auto text = all.str();
  const auto at = text.find("tier: ", text.find("- name: " + capability + "\n"));
  text.replace(at, text.find('\n', at) - at, "tier: " + tier);
  std::ofstream(file) << text;
}

int health(Rig& rig, const std::string& path) {
  return http_request(rig.health_port(), "GET", path).status;
}

}  // namespace

TEST_CASE("arguments that do not fit are refused by name, and nothing is written") {
  Rig rig;
  rig.begin();
  const auto [capability, arguments, part] = GENERATE_REF(table<std::string, std::string, std::string>({
      {"slack.send", R"({"channel":"general","txt":"x"})", "txt"},
      {"slack.send", R"({"channel":"general"})", "text"},
      {"slack.send", R"({"channel":7,"text":"x"})", "channel"},
      {"slack.send", R"({"channel":"general","text":""})", "text"},
      {"slack.send", R"({"channel":"general","text":["x"]})", "text"},
      {"slack.send", R"({"channel":"no-such-channel","text":"x"})", "no-such-channel"},
      {"slack.search", R"({"limit":"many"})", "limit"},
      {"slack.search", R"({"limit":101})", "limit"},
      {"slack.search", R"({"from_date":"yesterday"})", "from_date"},
      {"slack.search", R"({"channel":"no-such-channel"})", "no-such-channel"},
      {"slack.react", R"({"channel":"general","ts":"now","reaction":"eyes"})", "ts is"},
  }));
  CAPTURE(capability, arguments);
  const auto answer = rig.invoke(capability, arguments);
  INFO(text_of(answer.document));
  CHECK_FALSE(answer.ok());
  CHECK(answer.error() == "InvalidInput");
  CHECK(answer.message().find(part) != std::string::npos);
  CHECK(size_at(parse(rig.control("GET", "/writes").body), "/writes") == 0);
}

TEST_CASE("what a person must approve, and what is blocked, is refused clearly") {
  Rig rig;
  set_tier(rig, "slack.send", "approval_required");
  set_tier(rig, "slack.search", "blocked");
  rig.begin();
  const auto sent = rig.send("May I?");
  INFO(text_of(sent.document));
  CHECK_FALSE(sent.ok());
  CHECK_FALSE(sent.message().empty());
  CHECK((sent.error() == "ApprovalRequired" || sent.error() == "OperationBlocked"));
  const auto searched = rig.invoke("slack.search");
  INFO(text_of(searched.document));
  CHECK((searched.error() == "OperationBlocked" || searched.error() == "PolicyDenied"));
  rig.advance(60'000);
  CHECK(rig.slack().effect("posts") == 0);
}

TEST_CASE("a key ends at once when it is rotated or revoked") {
  Rig rig;
  rig.begin();
  const auto old = rig.key;
  rig.key = text_at(rig.operate({"agent", "rotate", "assistant"}), "/key");
  CHECK(rig.invoke_as(old, "slack.channels").status == 401);
  CHECK(rig.invoke("slack.channels").ok());
  rig.operate({"agent", "revoke", "assistant"});
  CHECK(rig.invoke("slack.channels").status == 401);
  CHECK(rig.kruxos({"--json", "agent", "show", "nobody"}).status.code == 4);
}

TEST_CASE("a key that is replaced with a grace is good until that is over, over a kill") {
  Rig rig;
  rig.begin();
  const auto old = rig.key;
  rig.key = text_at(rig.operate({"agent", "rotate", "assistant", "--grace", "1h"}), "/key");
  CHECK(rig.invoke_as(old, "slack.channels").ok());
  rig.host().signal(SIGKILL);
  rig.await_end();
  rig.start();
  CHECK(rig.invoke_as(old, "slack.channels").ok());
  CHECK(number_at(rig.operate({"agent", "show", "assistant"}), "/agent/old_key_until_ms") > rig.now_ms());
  rig.advance(3'600'000);
  CHECK(rig.invoke_as(old, "slack.channels").status == 401);
  CHECK(rig.invoke("slack.channels").ok());
}

TEST_CASE("an agent that is revoked takes its waiting writes along") {
  Rig rig;
  rig.begin();
  const auto other = rig.new_agent("other");
  const auto kept = rig.invoke_as(other, "slack.send", R"({"channel":"general","text":"another's"})").write_id();
  const auto sent = rig.send("by one who is shut out").write_id();
  REQUIRE(rig.state(sent) == "buffered");
  const auto revoked = rig.operate({"agent", "revoke", "assistant"});
  INFO(text_of(revoked));
  CHECK(bool_at(revoked, "/agent/revoked"));
  CHECK(number_at(revoked, "/cancelled_writes") == 1);
  REQUIRE(find_at(revoked, "/writes_left"));
  CHECK(number_at(revoked, "/writes_left") == 0);
  CHECK(rig.state(sent) == "cancelled");
  CHECK(text_at(rig.write(sent), "/write/decided_by").starts_with("operator:"));
  CHECK(rig.pass_time([&] { return rig.state(kept) == "completed"; }));
  rig.advance(600'000);
  CHECK(rig.posts_of("by one who is shut out") == 0);
  CHECK(rig.posts_of("another's") == 1);
}

TEST_CASE("releasing an adapter that is not quarantined is a conflict that no repetition mends") {
  Rig rig;
  rig.start();
  const auto reply = rig.control("POST", "/plugins/slack/release");
  INFO(reply.body);
  CHECK(reply.status == 409);
  CHECK(text_at(parse(reply.body), "/error/type") == "ConflictError");
  REQUIRE(find_at(parse(reply.body), "/error/retryable"));
  CHECK_FALSE(bool_at(parse(reply.body), "/error/retryable"));
}

TEST_CASE("one agent sees and stops nothing of another's") {
  Rig rig;
  rig.begin();
  const auto sent = rig.send("mine");
  const auto other = rig.new_agent("other");
  const auto id = R"({"write_id":")" + sent.write_id() + "\"}";
  CHECK_FALSE(rig.invoke_as(other, "slack.cancel", id).ok());
  CHECK_FALSE(rig.invoke_as(other, "proxy.write_status", id).ok());
  CHECK(rig.state(sent.write_id()) == "buffered");
}

TEST_CASE("health, and JSON from every command") {
  Rig rig;
  rig.begin();
  CHECK(health(rig, "/health") == 200);
  CHECK(health(rig, "/health/ready") == 200);
  CHECK(text_at(parse(http_request(rig.health_port(), "GET", "/health").body), "/status") == "ok");
  const auto sent = rig.send("shown");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"status"},
                                             {"agent", "list"},
                                             {"agent", "show", "assistant"},
                                             {"connect", "status"},
                                             {"sync", "slack"},
                                             {"approve", "list"},
                                             {"approve", "show", sent.write_id()},
                                             {"plugin", "list"},
                                             {"config", "show"},
                                             {"alerts"},
                                             {"plugin", "verify", rig.path("adapters/slack.so").string()}}) {
    CAPTURE(words);
    CHECK(rig.operate(words).IsObject());
  }
  const auto nothing = rig.kruxos({"--json", "approve", "show", "w_nothing"});
  CHECK(nothing.status.code == 4);
  CHECK(text_at(parse(nothing.out), "/error/message").size() > 10);
  rig.stop();
  CHECK(rig.kruxos({"--json", "status"}).status.code == 3);
}

}  // namespace KRUXOS_TEST_FILE
