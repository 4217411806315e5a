// Connecting again: as the same, as somebody else, with another account.
#include <fstream>
#include <sstream>

#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr const char* kOther = "xoxb-e2e-0f-another-b0t";
constexpr const char* kElsewhere = "xoxb-e2e-0f-another-w0rkspace";
constexpr const char* kSecretText = "Between us: the harbour at midnight.";

RigOptions with_others() {
  RigOptions options;
  options.tokens = {std::string(kOther) + "@U0OTHERBOT1", std::string(kElsewhere) + "@U0ELSEWHERE@T0ELSEWHERE"};
  return options;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool in_replica(Rig& rig, const std::string& text) {
  for (const auto& entry : std::filesystem::directory_iterator(rig.data() / "replica/slack")) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    if (contains(all.str(), text)) return true;
  }
  return false;
}

std::int64_t generation(Rig& rig) {
  return number_at(rig.operate({"connect", "status"}), "/connections/0/generation");
}

std::size_t found(Rig& rig) {
  return rig.invoke("slack.search", R"({"query":"harbour"})").size("/messages");
}

// A private channel that the first bot is in.
void seed_private(Rig& rig) {
  rig.slack().seed(
      std::string(R"({"channels":[{"id":"G0PRIVATE01","name":"plans","type":"private_channel","num_members":2,)") +
      R"("messages":[{"user":"U0ALICE0001","text":")" + kSecretText + R"(","ts":"1699990400.000100"}]}]})");
}

}  // namespace

TEST_CASE("what the earlier principal could see is not readable under another's token") {
  Rig rig(with_others());
  seed_private(rig);
  rig.begin();
  REQUIRE(found(rig) == 1);
  REQUIRE(in_replica(rig, "harbour"));
  rig.slack().act(R"({"action":"remove_bot","channel":"G0PRIVATE01"})");
  const bool first = GENERATE(true, false);
  CAPTURE(first);
  if (first) REQUIRE(rig.kruxos({"disconnect", "slack"}).status.ok());
  // Nothing is synced under the other token: what is there is what was there.
  rig.slack().fault(R"({"method":"conversations.list","kind":"hang","count":0})");
  rig.connect(kOther);
  CHECK(generation(rig) == 2);
  CHECK(found(rig) == 0);
  CHECK_FALSE(in_replica(rig, "harbour"));
  rig.slack().clear_faults();
  rig.slack().release();
  REQUIRE(rig.pass_time([&] { return rig.invoke("slack.channels").size("/channels") == 2; }, 3'600'000, 60'000));
  CHECK(found(rig) == 0);
  // Across a restart as well.
  REQUIRE(rig.stop().ok());
  rig.start();
  CHECK(found(rig) == 0);
  CHECK_FALSE(in_replica(rig, "harbour"));
}

TEST_CASE("writes of an earlier connection never go out under a new one") {
  Rig rig(with_others());
  rig.begin();
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"reset"})");
  const auto lost = rig.send("of the first bot");
  REQUIRE(rig.pass_time([&] { return rig.told(lost.write_id()); }, 300'000));
  CHECK(contains(rig.kruxos({"connect", "slack"}, std::string(kOther) + "\n").err, "have not ended"));
  const auto waiting = rig.send("waits for the first bot");
  const auto receipt = rig.operate({"disconnect", "slack", "--force"});
  rig.connect(kOther);
  REQUIRE(generation(rig) == 2);
  REQUIRE(rig.pass_time([&] { return rig.synced(); }));
  CHECK(rig.state(waiting.write_id()) == "cancelled");
  CHECK(rig.told(lost.write_id()));
  for (int i = 0; i < 4; ++i) rig.advance(15 * 60'000);
  CHECK(rig.posts_of("of the first bot") + rig.posts_of("waits for the first bot") == 0);
  // Somebody who asks for it to be sent again does not send it as the other one either.
  rig.kruxos({"approve", "resolve", lost.write_id(), "--resend", "--yes"});
  for (int i = 0; i < 4; ++i) rig.advance(15 * 60'000);
  CHECK(rig.posts_of("of the first bot") == 0);
  const auto mine = rig.send("of the second bot");
  CHECK(rig.pass_time([&] { return rig.state(mine.write_id()) == "completed"; }, 60'000));
  const auto id = text_at(receipt, "/receipt/receipt_id");
  CHECK(text_at(rig.operate({"disconnect", "--receipt", id}), "/receipt/principal") ==
        text_at(receipt, "/receipt/principal"));
}

TEST_CASE("the same principal after a disconnection is a new generation with a new replica") {
  Rig rig(with_others());
  rig.begin();
  REQUIRE(rig.kruxos({"disconnect", "slack"}).status.ok());
  rig.slack().act(R"({"action":"restore_tokens"})");
  rig.connect();
  CHECK(generation(rig) == 2);
  REQUIRE(rig.pass_time([&] { return rig.synced(); }));
  const auto sent = rig.send("again");
  CHECK(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }, 60'000));
}

TEST_CASE("another account of the same service has its own replica, writes and receipts") {
  Rig rig(with_others());
  rig.begin();
  const auto waiting = rig.send("of the first workspace");
  rig.connect(kElsewhere);
  const auto both = rig.operate({"connect", "status"});
  INFO(text_of(both));
  REQUIRE(size_at(both, "/connections") == 2);
  CHECK(rig.kruxos({"disconnect", "slack"}).status.code == 1);  // which one?
  REQUIRE(rig.kruxos({"disconnect", "slack", "T0ELSEWHERE"}).status.ok());
  CHECK(size_at(rig.operate({"connect", "status"}), "/connections") == 1);
  CHECK(rig.state(waiting.write_id()) == "buffered");
  CHECK(rig.pass_time([&] { return rig.state(waiting.write_id()) == "completed"; }, 60'000));
  REQUIRE(rig.kruxos({"disconnect", "slack"}).status.ok());
  rig.connect(kOther);
  CHECK(generation(rig) == 2);
  CHECK(size_at(rig.operate({"disconnect", "--receipts"}), "/receipts") == 2);
}

TEST_CASE("a connection is logged once") {
  Rig rig;
  rig.begin();
  const auto log = rig.log();
  const auto first = log.find(" connected slack ");
  REQUIRE(first != std::string::npos);
  CHECK(log.find("connected", first + 11) == std::string::npos);
}

}  // namespace KRUXOS_TEST_FILE
