// Messages to one channel go out in the order in which they were asked for.
#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

struct OrderRig : Rig {
  OrderRig() { begin(); }
  std::vector<std::string> ids;
  void say(int count) {
    for (int i = 0; i < count; ++i) {
      const auto sent = send("part " + std::to_string(i));
      REQUIRE(sent.ok());
      ids.push_back(sent.write_id());
    }
  }
  bool all_completed(std::int64_t limit_ms = 900'000) {
    return pass_time(
        [&] { return std::all_of(ids.begin(), ids.end(), [&](const auto& id) { return state(id) == "completed"; }); },
        limit_ms);
  }
  std::string posted() {
    const auto list = slack().messages(kGeneral);
    std::string parts;
    for (std::size_t i = 0; i < size_at(list, "/messages"); ++i) {
      const auto text = text_at(list, "/messages/" + std::to_string(i) + "/text");
      if (text.rfind("part ", 0) == 0) parts += text.substr(5);
    }
    return parts;
  }
};

}  // namespace

TEST_CASE("more messages than the quota's burst arrive in the order of their calls") {
  OrderRig rig;
  rig.say(8);
  REQUIRE(rig.all_completed());
  CHECK(rig.posted() == "01234567");
}

TEST_CASE("a rate limit, a lost answer and a failure in between do not change the order") {
  OrderRig rig;
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"rate_limited","retry_after":20,"when":{"text":"part 1"}})");
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"reset_after","when":{"text":"part 3"}})");
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"reset","when":{"text":"part 4"}})");
  rig.say(7);
  rig.pass_time([&] { return rig.state(rig.ids[4]) == "unknown" && rig.told(rig.ids[4]); }, 400'000);
  if (rig.state(rig.ids[4]) == "unknown") rig.resolve(rig.ids[4], "resend");
  REQUIRE(rig.all_completed());
  CHECK(rig.posted() == "0123456");
}

TEST_CASE("what nobody can say of one message holds up the others for a while only, and they say so") {
  OrderRig rig;
  rig.slack().fault(R"({"method":"chat.postMessage","kind":"reset","when":{"text":"part 0"}})");
  rig.say(3);
  REQUIRE(rig.pass_time([&] { return rig.told(rig.ids[0]); }, 200'000));
  CHECK(bool_at(rig.write(rig.ids[1]), "/write/waits_in_line"));
  REQUIRE(rig.pass_time([&] { return rig.state(rig.ids[2]) == "completed"; }, 600'000));
  CHECK(rig.posted() == "12");
  CHECK(bool_at(rig.write(rig.ids[1]), "/write/out_of_order"));
  const auto status = rig.invoke("proxy.write_status", R"({"write_id":")" + rig.ids[2] + "\"}");
  CHECK(bool_at(status.document, "/result/data/out_of_order"));
}

}  // namespace KRUXOS_TEST_FILE
