// Everything that a service can do to a message on its way: it happens once, or is found, or a person decides.
#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr const char* kText = "The report is out.";

struct FaultRig : Rig {
  explicit FaultRig(RigOptions options = {}) : Rig(std::move(options)) { begin(); }
  std::string post_under(const std::string& fault) {
    slack().fault(R"({"method":"chat.postMessage",)" + fault + "}");
    const auto sent = send(kText);
    REQUIRE(sent.ok());
    return sent.write_id();
  }
  bool reaches(const std::string& id, const std::string& wanted, std::int64_t limit_ms = 300'000) {
    const bool so = pass_time([&] { return state(id) == wanted; }, limit_ms);
    UNSCOPED_INFO(text_of(write(id)));
    return so;
  }
  bool is_told(const std::string& id, std::int64_t limit_ms = 1'800'000) {
    const bool so = pass_time([&] { return told(id); }, limit_ms);
    UNSCOPED_INFO(text_of(write(id)));
    return so;
  }
  void an_hour_later() {
    for (int i = 0; i < 6; ++i) advance(10 * 60'000);
  }
};

}  // namespace

TEST_CASE("a rate limit is waited out for as long as the service said") {
  FaultRig rig;
  const auto id = rig.post_under(R"("kind":"rate_limited","retry_after":240)");
  REQUIRE(rig.reaches(id, "dead_letter", 60'000));
  const auto limited_at = rig.now_ms();
  const auto calls = rig.slack().calls("chat.postMessage");
  REQUIRE(rig.reaches(id, "completed", 600'000));
  CHECK(rig.now_ms() - limited_at >= 240'000 - 5'000);
  CHECK(rig.slack().calls("chat.postMessage") == calls + 1);
  CHECK(rig.slack().posted(id) == 1);
}

TEST_CASE("an effect behind a lost or useless answer is found and not repeated") {
  const std::string fault = GENERATE(
      R"("kind":"reset_after")", R"("kind":"error_after","error":"internal_error")",
      R"("kind":"error_after","error":"fatal_error")", R"("kind":"http_status","status":503,"effect":"applied")",
      R"("kind":"http_status","status":500,"effect":"applied")", R"("kind":"truncated","framing":"short")",
      R"("kind":"truncated","framing":"exact")", R"("kind":"body","shape":"not_json")",
      R"("kind":"body","shape":"array")", R"("kind":"body","shape":"html")", R"("kind":"body","shape":"deep")",
      R"("kind":"body","shape":"missing_ok")", R"("kind":"body","shape":"ok_is_string")",
      R"("kind":"body","shape":"invalid_utf8")", R"("kind":"body","shape":"empty")");
  CAPTURE(fault);
  FaultRig rig;
  const auto id = rig.post_under(fault);
  REQUIRE(rig.pass_time([&] { return rig.state(id) != "buffered" && rig.state(id) != "executing"; }, 60'000));
  CHECK(rig.state(id) == "unknown");
  CHECK(rig.reaches(id, "completed"));
  rig.an_hour_later();
  CHECK(rig.slack().posted(id) == 1);
  CHECK(rig.slack().effect("posts") == 1);
  rig.check_contract();
}

TEST_CASE("where nothing can be found a person decides") {
  const std::string fault = GENERATE(R"("kind":"reset")", R"("kind":"http_status","status":503)",
                                     R"("kind":"error","error":"internal_error")");
  const std::string decision = GENERATE("resend", "discard", "happened");
  CAPTURE(fault, decision);
  FaultRig rig;
  const auto id = rig.post_under(fault);
  REQUIRE(rig.is_told(id));
  CHECK(rig.state(id) == "unknown");
  CHECK(rig.invoke("slack.cancel", R"({"write_id":")" + id + "\"}").error() == "CannotCancel");
  CHECK(text_of(rig.operate({"alerts"})).find(id) != std::string::npos);
  CHECK(text_of(rig.operate({"approve", "list"})).find(id) != std::string::npos);
  rig.resolve(id, decision);
  CHECK(rig.reaches(id, decision == "discard" ? "discarded" : "completed"));
  rig.an_hour_later();
  CHECK(rig.slack().posted(id) == (decision == "resend" ? 1 : 0));
  CHECK_THROWS(rig.resolve(id, "resend"));
}

TEST_CASE("a call that hangs ends with its time, and its effect is found") {
  FaultRig rig;
  const auto id = rig.post_under(R"("kind":"hang_after")");
  REQUIRE(rig.reaches(id, "executing", 60'000));
  REQUIRE(rig.reaches(id, "unknown", 120'000));
  CHECK(rig.reaches(id, "completed"));
  CHECK(rig.slack().posted(id) == 1);
  rig.slack().release();
  rig.an_hour_later();
  CHECK(rig.slack().posted(id) == 1);
}

TEST_CASE("a call that hangs and did nothing is for a person") {
  FaultRig rig;
  const auto id = rig.post_under(R"("kind":"hang")");
  REQUIRE(rig.is_told(id));
  CHECK(rig.slack().hanging() == 0);  // the host let go of the connection
  rig.resolve(id, "discard");
  rig.an_hour_later();
  CHECK(rig.slack().effect("posts") == 0);
}

TEST_CASE("an effect that comes after a look had found nothing") {
  const bool decided = GENERATE(false, true);
  CAPTURE(decided);
  FaultRig rig;
  const auto id = rig.post_under(R"("kind":"late","after_ms":1200000)");
  REQUIRE(rig.is_told(id, 600'000));
  CHECK(rig.slack().posted(id) == 0);
  if (decided) rig.resolve(id, "discard");
  for (int i = 0; i < 40; ++i) rig.advance(60'000);
  // What was absent is a person's matter; what a later look finds is no matter any more. Nothing is sent again.
  CHECK(rig.state(id) == (decided ? "discarded" : "completed"));
  CHECK(rig.slack().posted(id) == 1);
  CHECK(rig.slack().calls("chat.postMessage") == 1);
}

TEST_CASE("what the service refuses for good fails at once and says why") {
  FaultRig rig;
  const auto id = rig.post_under(R"("kind":"error","error":"is_archived")");
  REQUIRE(rig.reaches(id, "failed", 60'000));
  const auto status = rig.invoke("proxy.write_status", R"({"write_id":")" + id + "\"}");
  CHECK_FALSE(status.text("/error/message").empty());
  rig.an_hour_later();
  CHECK(rig.slack().calls("chat.postMessage") == 1);
}

TEST_CASE("without the right to see marks nobody can tell, and a person is asked") {
  FaultRig rig({.scopes = "channels:read,channels:history,users:read,chat:write,reactions:write"});
  const auto id = rig.post_under(R"("kind":"reset_after")");
  REQUIRE(rig.is_told(id));
  CHECK(rig.state(id) == "unknown");
  rig.resolve(id, "happened");
  rig.an_hour_later();
  CHECK(rig.state(id) == "completed");
  CHECK(rig.slack().posted(id) == 1);
}

TEST_CASE("without the right to look, what is harmless to repeat goes out again and nobody is asked") {
  FaultRig rig({.scopes = "channels:read,channels:history,users:read,chat:write,reactions:write"});
  rig.slack().fault(R"({"method":"reactions.add","kind":"reset_after"})");
  const auto reacted = rig.invoke("slack.react", R"({"channel":"general","ts":"1699990100.000100","reaction":"eyes"})");
  REQUIRE_FALSE(reacted.ok());
  const auto id = text_at(reacted.document, "/result/error/context/write_id");
  CHECK(rig.pass_time([&] { return rig.state(id) == "completed"; }, 40 * 60'000, 60'000));
  CHECK_FALSE(rig.told(id));
  CHECK(rig.slack().calls("reactions.add") == 2);
}

TEST_CASE("where the token stops working before the look, a person is asked, and may decide at once") {
  FaultRig rig;
  const auto id = rig.post_under(R"("kind":"reset_after")");
  REQUIRE(rig.reaches(id, "unknown", 60'000));
  rig.slack().fault(R"({"method":"auth.test","kind":"error","error":"token_revoked","count":0})");
  SECTION("after a quarter of an hour") {
    CHECK(rig.pass_time([&] { return rig.told(id); }, 40 * 60'000, 60'000));
  }
  rig.resolve(id, "happened");
  CHECK(rig.state(id) == "completed");
  rig.slack().clear_faults();
  rig.an_hour_later();
  CHECK(rig.slack().posted(id) == 1);
}

TEST_CASE("a reaction that was taken away can be given again") {
  FaultRig rig;
  const auto where = R"({"channel":"general","ts":"1699990100.000100","reaction":"eyes"})";
  for (const char* capability : {"slack.react", "slack.remove_react", "slack.react"}) {
    CAPTURE(capability);
    CHECK(rig.invoke(capability, where).ok());
  }
  CHECK(rig.slack().calls("reactions.add") == 2);
}

TEST_CASE("while the token is refused writes wait, and go out after reconnecting") {
  FaultRig rig;
  const auto id = rig.send(kText).write_id();
  rig.slack().act(std::string(R"({"action":"revoke_token","token":")") + kToken + R"(","error":"token_revoked"})");
  REQUIRE(rig.reaches(id, "dead_letter", 120'000));
  CHECK(rig.pass_time(
      [&] {
        return text_at(rig.operate({"connect", "status"}), "/connections/0/state") == "needs attention";
      },
      120'000));
  rig.an_hour_later();
  CHECK(rig.state(id) == "dead_letter");
  CHECK(rig.invoke("slack.channels").size("/channels") == 2);
  CHECK(text_of(rig.operate({"alerts"})).find("not_authenticated") != std::string::npos);
  CHECK(rig.kruxos({"connect", "slack"}, std::string(kToken) + "\n").status.code != 0);

  rig.slack().act(R"({"action":"restore_tokens"})");
  rig.connect();
  CHECK(rig.reaches(id, "completed", 60'000));
  CHECK(rig.slack().posted(id) == 1);
  CHECK(text_at(rig.operate({"connect", "status"}), "/connections/0/state") == "connected");
}

}  // namespace KRUXOS_TEST_FILE
