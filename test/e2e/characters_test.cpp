// Every character passes in every direction, or is refused by the name of its field; what the replica cannot take is
// said.
#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr const char* kLog = "build log: \x1b[31mFAILED\x1b[0m tests of module number one, and more behind it";

std::string all_controls() {
  std::string all;
  for (char c = 1; c < 0x20; ++c) all += std::string("seventeen letters") + c;
  return all;
}

/// As a JSON string; written by hand, so that no writer's mistake hides another's.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    char buffer[8];
    std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned char>(c));
    out += c >= 0x20 ? std::string(1, c) : buffer;
  }
  return out;
}

struct CharacterRig : Rig {
  explicit CharacterRig(RigOptions options = {}) : Rig(std::move(options)) {}
  void say(const std::string& text_json) {
    slack().act(R"({"action":"post","channel":"C0GENERAL01","user":"U0ALICE0001","text":")" + text_json + "\"}");
  }
  /// The texts of the newest messages.
  std::vector<std::string> texts(int limit = 10) {
    const auto answer = invoke("slack.search", R"({"channel":"general","limit":)" + std::to_string(limit) + "}");
    INFO(text_of(answer.document));
    REQUIRE(answer.ok());
    std::vector<std::string> all;
    for (std::size_t i = 0; i < answer.size("/messages"); ++i)
      all.push_back(answer.text("/messages/" + std::to_string(i) + "/text"));
    return all;
  }
  bool has(const std::string& text) {
    const auto all = texts();
    return std::find(all.begin(), all.end(), text) != all.end();
  }
  Json account() {
    Json copy;
    const auto sync = operate({"sync", "slack"});
    const auto* first = find_at(sync, "/sync/accounts/0");
    REQUIRE(first);
    copy.CopyFrom(*first, copy.GetAllocator());
    return copy;
  }
  std::string metrics() { return http_request(health_port(), "GET", "/metrics", {{"host", "localhost"}}).body; }
  bool completes(const std::string& write_id) {
    return pass_time([&] { return state(write_id) == "completed"; }, 120'000);
  }
};

}  // namespace

TEST_CASE("control characters of a service reach agents as they are") {
  CharacterRig rig(either_isolation());
  const auto controls = all_controls();
  rig.say(escaped(kLog));
  rig.say(escaped(controls));
  rig.slack().act(R"({"action":"set_topic","channel":"C0GENERAL01","text":")" + escaped(kLog) + "\"}");
  rig.begin();
  CHECK(rig.has(kLog));
  CHECK(rig.has(controls));
  const auto found = rig.invoke("slack.search", R"({"query":"\u001b[31mFAILED"})");
  CHECK(found.number("/total") == 1);
  const auto id = found.text("/messages/0/id");
  CHECK(rig.invoke("slack.read", R"({"message_id":")" + id + "\"}").text("/message/text") == kLog);
  CHECK(rig.invoke("slack.channels", R"({"name_contains":"general"})").text("/channels/0/topic") == kLog);
  const auto account = rig.account();
  CHECK(number_at(account, "/left_out") == 0);
  CHECK(size_at(account, "/problems") == 0);
}

TEST_CASE("control characters of agents reach the service as they are, in writes, replies and edits") {
  CharacterRig rig(either_isolation());
  rig.begin();
  const auto controls = all_controls();
  const auto sent = rig.send(escaped(kLog));
  INFO(text_of(sent.document));
  REQUIRE(sent.ok());
  const auto reply = rig.invoke(
      "slack.reply", R"({"channel":"general","thread_ts":"1699990000.000100","text":")" + escaped(controls) + "\"}");
  INFO(text_of(reply.document));
  REQUIRE(reply.ok());
  const auto edited = rig.send("to be edited");
  const auto edit = rig.invoke("proxy.edit_write", R"({"write_id":")" + edited.write_id() + R"(","content_hash":")" +
                                                       edited.text("/content_hash") +
                                                       R"(","arguments":{"text":"edited )" + escaped(kLog) + "\"}}");
  INFO(text_of(edit.document));
  REQUIRE(edit.ok());
  rig.operate({"approve", "edit", edited.write_id(), std::string("text=again ") + kLog, "--yes"});
  for (const auto& id : {sent.write_id(), reply.write_id(), edited.write_id()}) REQUIRE(rig.completes(id));
  CHECK(rig.posts_of(kLog) == 1);
  CHECK(rig.posts_of(controls) == 1);
  CHECK(rig.posts_of(std::string("again ") + kLog) == 1);
  REQUIRE(rig.pass_time([&] { return rig.has(kLog) && rig.has(std::string("again ") + kLog); }));
  rig.check_contract();
}

TEST_CASE("NULs and halves of surrogate pairs of a service become U+FFFD, are counted, and keep nothing out") {
  CharacterRig rig(either_isolation());
  rig.say("before");
  rig.say("half {half} of a pair, and {nul} besides");
  rig.say("behind");
  rig.slack().fault(R"({"method":"conversations.history","kind":"body","shape":"odd_escapes","count":0})");
  rig.begin();
  CHECK(rig.has("before"));
  CHECK(rig.has("half \uFFFD of a pair, and \uFFFD besides"));
  CHECK(rig.has("behind"));
  const auto account = rig.account();
  CHECK(number_at(account, "/left_out") == 0);
  CHECK(size_at(account, "/problems") == 0);
  CHECK_THAT(rig.metrics(), Catch::Contains("kruxos_adapter_replaced_characters_total{service=\"slack\"} ") &&
                                !Catch::Contains("kruxos_adapter_replaced_characters_total{service=\"slack\"} 0"));
}

TEST_CASE("a text that no service takes is refused by its field, and is no broken message") {
  CharacterRig rig;
  rig.begin();
  const auto refused = [](const Answer& answer, const std::string& field, const std::string& what) {
    INFO(text_of(answer.document));
    CHECK(answer.error() == "InvalidInput");
    CHECK_FALSE(bool_at(answer.document, "/result/error/retryable"));
    CHECK_THAT(answer.message(),
               Catch::Contains("\"" + field + "\"") && Catch::Contains(what) && !Catch::Contains("defect"));
  };
  refused(rig.send(R"(a\u0000b)"), "text", "U+0000");
  refused(rig.send(R"(a\ud800b)"), "text", "surrogate");
  refused(rig.send(R"(a\udfff)"), "text", "surrogate");
  refused(rig.invoke("slack.search", R"({"query":"a\u0000"})"), "query", "U+0000");
  refused(rig.send(std::string(40'001, 'x')), "text", "at most 40000");
  const auto waits = rig.send("waits");
  REQUIRE(waits.ok());
  refused(
      rig.invoke("proxy.edit_write", R"({"write_id":")" + waits.write_id() + R"(","arguments":{"text":"x\u0000"}})"),
      "arguments.text", "U+0000");
  const auto by_operator =
      rig.control("POST", "/writes/" + waits.write_id() + "/edit",
                  R"({"content_hash":")" + waits.text("/content_hash") + R"(","arguments":{"text":"x\ud800"}})");
  CHECK(by_operator.status == 400);
  CHECK_THAT(by_operator.body, Catch::Contains("arguments.text") && Catch::Contains("surrogate"));
  REQUIRE(rig.completes(waits.write_id()));
  CHECK(rig.posts_of("waits") == 1);
  CHECK(rig.slack().effect("posts") == 1);
}

TEST_CASE("a record that the replica cannot take is left out, counted and shown, until it fits") {
  CharacterRig rig(either_isolation());
  const auto posted = rig.slack().act(R"({"action":"post","channel":"C0GENERAL01","user":"U0ALICE0001","text":")" +
                                      std::string(1'200'000, 'x') + "\"}");
  const auto ts = text_at(posted, "/ts");
  rig.say("behind it");
  rig.begin();
  CHECK(rig.has("behind it"));
  const auto seen = [&] { return rig.invoke("slack.search").number("/freshness/left_out"); };
  CHECK(seen() == 1);
  auto account = rig.account();
  CHECK(number_at(account, "/left_out") == 1);
  CHECK(size_at(account, "/problems") == 0);
  CHECK(text_at(account, "/left_out_last/0/collection") == "messages");
  CHECK(text_at(account, "/left_out_last/0/id") == "C0GENERAL01/" + ts);
  CHECK_THAT(text_at(account, "/left_out_last/0/reason"), Catch::Contains("at most 1048576"));
  CHECK_THAT(rig.kruxos({"sync", "slack"}).out, Catch::Contains("C0GENERAL01/" + ts));
  CHECK_THAT(rig.kruxos({"status"}).out, Catch::Contains("1 record left out: kruxos sync slack"));
  CHECK_THAT(rig.metrics(), Catch::Contains("kruxos_replica_left_out{"));
  CHECK(rig.stop().code == 0);
  rig.start();
  CHECK(seen() == 1);
  rig.slack().act(R"({"action":"edit","channel":"C0GENERAL01","ts":")" + ts + R"(","text":"short now"})");
  REQUIRE(rig.pass_time([&] { return rig.has("short now"); }, 7 * 24 * 3'600'000LL, 3'600'000));
  CHECK(seen() == 0);
  CHECK(rig.invoke("slack.search").document.IsObject());
  CHECK(number_at(rig.account(), "/left_out") == 0);
}

}  // namespace KRUXOS_TEST_FILE
