// The replica follows the service: within its limits, at any size, and whatever kills the host on the way.
#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr const char* kForty = R"({"channels": 3, "users": 5, "messages_per_channel": 40, "threads_per_channel": 2,
                                   "replies_per_thread": 3})";

std::int64_t messages_in(Rig& rig) {
  return rig.invoke("slack.search", R"({"limit":1})").number("/total");
}

bool idle(Rig& rig) {
  return rig.synced() && text_at(parse(rig.control("GET", "/sync/slack").body), "/sync/accounts/0/phase") == "idle";
}

// Pages of channels' histories that were asked for with the same cursor, beyond the first time.
int repeated_pages(Rig& rig) {
  std::map<std::string, int> seen;
  const auto log = rig.slack().log("conversations.history");
  for (const auto& entry : log["requests"].GetArray()) {
    ++seen[text_at(entry, "/params/channel") + " " + text_at(entry, "/params/cursor")];
  }
  int repeated = 0;
  for (const auto& [page, times] : seen) repeated += times - 1;
  return repeated;
}

}  // namespace

TEST_CASE("a sync keeps to one request a minute of fifteen messages, and completes") {
  Rig rig({.service = "    quota: [{match: conversations.history, per_minute: 1},"
                      " {match: conversations.replies, per_minute: 1}]\n",
           .seed = false});
  rig.slack().seed(kForty);
  rig.slack().limits(R"({"methods": {"conversations.history": {"per_minute": 1, "max_items": 15},
                                     "conversations.replies": {"per_minute": 1, "max_items": 15}}})");
  rig.start();
  rig.connect();
  rig.key = rig.new_agent("reader");
  // Channels come long before the histories.
  REQUIRE(rig.pass_time([&] { return rig.invoke("slack.channels").size("/channels") == 3; }, 60'000, 1'000));
  CHECK(messages_in(rig) < 3 * 40);
  REQUIRE(rig.pass_time([&] { return messages_in(rig) == 3 * (40 + 2 * 3); }, 60 * 60'000, 10'000));
  for (const char* method : {"conversations.history", "conversations.replies"}) {
    CAPTURE(method);
    CHECK(rig.slack().max_per_minute(method) <= 1);
    CHECK(number_at(rig.slack().state(), std::string("/methods/") + method + "/limited") == 0);
  }
  rig.check_contract();
}

TEST_CASE("killed in the first sync, it goes on where it was") {
  const std::string point = GENERATE("sync.commit.before_commit", "sync.commit.after_commit");
  const int pass = GENERATE(1, 2, 3, 4, 5, 6);
  CAPTURE(point, pass);
  Rig rig({.service = "    adapter: {page_size: 10}\n", .seed = false});
  rig.slack().seed(kForty);
  rig.start(point + ":" + std::to_string(pass));
  rig.kruxos({"connect", "slack"}, std::string(kToken) + "\n");
  CHECK(rig.await_end().signal == SIGKILL);
  rig.start();
  rig.key = rig.new_agent("reader");
  REQUIRE(rig.pass_time([&] { return idle(rig) && messages_in(rig) == 3 * (40 + 2 * 3); }, 600'000));
  // What the kill tore out of the first pass may be asked for again; what was committed may not.
  const auto lists = rig.slack().log("conversations.history");
  const int allowed = 1;
  CHECK(repeated_pages(rig) <= allowed);
  rig.check_contract();
}

TEST_CASE("a large workspace is served at once, while it is synced within the limits, and its host stops in time") {
  Rig rig({.seed = false});
  rig.slack().seed(R"({"large": {"channels": 43000, "users": 200000}, "channels": [{"id": "C0GENERAL01",
      "name": "general", "messages": [{"user": "U9000000001", "text": "hello", "at_ms": 1}]}]})");
  rig.start();
  rig.key = rig.new_agent("reader");
  rig.connect();
  const auto begun = std::chrono::steady_clock::now();
  const auto first = rig.invoke("slack.channels");
  INFO(text_of(first.document));
  CHECK(first.ok());
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(1));
  // The channel that the bot is in does not wait for the others' 43 full pages of 999 and the rest.
  const auto calls = [&](const std::string& method) {
    return number_at(rig.slack().state(), "/methods/" + method + "/calls");
  };
  const auto hello = [&] { return rig.invoke("slack.search", R"({"query":"hello"})").size("/messages") == 1; };
  CHECK(rig.pass_time(hello, 60'000));
  CHECK(rig.pass_time([&] { return calls("conversations.list") >= 44; }, 10 * 60'000));
  CHECK(calls("conversations.list") == 44);
  // A page of three needs no look at the others, and their number is known.
  const auto page = rig.invoke("slack.channels", R"({"limit":3})");
  CHECK(page.size("/channels") == 3);
  CHECK(page.number("/total") == 43'001);
  CHECK_FALSE(bool_at(page.document, "/result/data/total_is_lower_bound"));
  CHECK_FALSE(bool_at(page.document, "/result/data/incomplete"));
  CHECK(rig.slack().max_per_minute("conversations.list") <= 20);
  CHECK(rig.slack().max_per_minute("users.list") <= 20);
  CHECK(rig.stop(milliseconds(6000)).ok());
}

}  // namespace KRUXOS_TEST_FILE
