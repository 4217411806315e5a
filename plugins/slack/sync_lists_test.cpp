// Channels and users: lists of several pages, channels that come, go and change their name.
#include <catch2/catch.hpp>

#include "test_support/rig.hpp"

namespace KRUXOS_TEST_FILE {

using kruxos::testing::FakeAnswer;
using slack::Params;
using slack::Rig;

namespace {

const std::string kA = "C0000000A", kB = "C0000000B";

}  // namespace

TEST_CASE("lists of several pages are swept of what is gone once they were seen whole") {
  Rig rig;
  rig.state.limits.set("users.list", {0, 10});
  rig.state.limits.set("conversations.list", {0, 10});
  rig.workspace().set_synthetic(35, 45, 0);
  rig.pass();
  CHECK(rig.store.rows(slack::kUsers).size() == 46);  // and the bot's own
  CHECK(rig.store.rows(slack::kChannels).size() == 35);
  rig.workspace().set_synthetic(25, 15, 0);
  rig.reset_calls();
  rig.next_pass();
  CHECK(rig.calls("users.list") == 0);  // long lists are not looked at in every pass
  rig.next_pass(20 * 60'000);
  CHECK(rig.store.rows(slack::kUsers).size() == 16);
  CHECK(rig.store.rows(slack::kChannels).size() == 25);
}

TEST_CASE("a list that is interrupted goes on at the same page, in the next pass too") {
  Rig rig;
  rig.state.limits.set("users.list", {0, 10});
  rig.workspace().set_synthetic(0, 45, 0);
  rig.override_answer = [&](const std::string& method, const Params&) {
    return method == "users.list" && rig.calls("users.list") == 3
               ? std::optional(FakeAnswer::failed(kruxos::ErrorKind::kTimeout))
               : std::nullopt;
  };
  rig.pass();
  CHECK(rig.store.reports.count("the list of users") == 1);
  CHECK(rig.store.rows(slack::kUsers).size() == 20);
  rig.restart();
  rig.next_pass();
  CHECK(rig.store.rows(slack::kUsers).size() == 46);
  CHECK(rig.calls("users.list") == 6);
  CHECK(rig.store.reports.empty());
}

TEST_CASE("a list's cursor that Slack forgets begins the list anew") {
  Rig rig;
  rig.state.limits.set("users.list", {0, 10});
  rig.workspace().set_synthetic(0, 45, 0);
  bool once = true;
  rig.override_answer = [&](const std::string& method, const Params& params) -> std::optional<FakeAnswer> {
    if (method != "users.list" || slack::param(params, "cursor").empty() || !once) return std::nullopt;
    once = false;
    return FakeAnswer{200, R"({"ok":false,"error":"invalid_cursor"})", {}, {}, "", -1};
  };
  rig.pass();
  CHECK_FALSE(once);
  CHECK(rig.store.rows(slack::kUsers).size() == 46);
}

TEST_CASE("a channel that the bot has left is forgotten, with all its messages and threads") {
  Rig rig;
  rig.add_channel(kA, "general");
  rig.add_channel(kB, "secret").info.kind =
      GENERATE(emu::ChannelKind::public_channel, emu::ChannelKind::private_channel);
  for (const auto& id : {kA, kB}) {
    rig.say_many(id, 250);
    rig.say(id, "reply", rig.say(id, "parent"));
  }
  rig.options.initial_messages = 1000;
  rig.restart();
  rig.pass();
  CHECK(rig.differences().empty());
  rig.channel(kB).info.is_member = false;
  rig.next_pass();
  CHECK(rig.replica_size() == 252);
  CHECK(rig.store.cursors.count("channel:" + kB) == 0);
  CHECK(rig.store.reports.empty());
  // Invited again, it is synced as if it were new.
  rig.channel(kB).info.is_member = true;
  rig.next_pass();
  CHECK(rig.differences().empty());
}

TEST_CASE("an archived channel keeps what was known of it") {
  Rig rig;
  rig.add_channel(kA, "general");
  rig.say_many(kA, 3);
  rig.pass();
  rig.channel(kA).info.is_archived = true;
  rig.reset_calls();
  rig.next_pass();
  CHECK(rig.replica_size() == 3);
  CHECK(rig.calls("conversations.history") == 0);
  rig.channel(kA).info.is_archived = false;
  rig.say_many(kA, 2);
  rig.next_pass();
  CHECK(rig.differences().empty());
}

TEST_CASE("a renamed channel has its new name in the next pass") {
  Rig rig;
  rig.add_channel(kA, "old-name");
  rig.pass();
  rig.channel(kA).info.name = "new-name";
  rig.next_pass();
  const auto& row = rig.store.rows(slack::kChannels).at(kA);
  CHECK(row.json.find("new-name") != std::string::npos);
  CHECK(std::get<std::string>(row.fields.at("name")) == "new-name");
}

TEST_CASE("without the scope for private channels the public ones are listed") {
  Rig rig({}, "xoxb-test:channels:read,channels:history,users:read");
  rig.add_channel(kA, "general");
  rig.add_channel(kB, "secret").info.kind = emu::ChannelKind::private_channel;
  rig.say_many(kA, 3);
  rig.pass();
  CHECK(rig.store.rows(slack::kChannels).size() == 1);
  CHECK(rig.replica_size() == 3);
  CHECK(rig.store.reports.empty());
  SECTION("nor are they asked for where the scopes are known") {
    rig.options.private_channels = false;
    rig.restart();
    rig.reset_calls();
    rig.next_pass();
    CHECK(rig.calls("conversations.list") == 1);
  }
}

TEST_CASE("without any scope for channels the operator is told which one is missing") {
  Rig rig({}, "xoxb-test:users:read");
  rig.pass();
  REQUIRE(rig.store.reports.count("the list of channels") == 1);
  CHECK(rig.store.reports["the list of channels"].message.find("channels:read") != std::string::npos);
  CHECK(rig.store.rows(slack::kUsers).size() == 1);
}

}  // namespace KRUXOS_TEST_FILE
