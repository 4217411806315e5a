// What rules ask of what an agent has read and done, over the whole chain and kills of the host.
#include <catch2/catch.hpp>

#include "gmail_rig.hpp"
#include "support/safe_file.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr std::int64_t kAMinute = 60'000;

struct Watchful : GmailRig {
  explicit Watchful(const std::string& rules) {
    const auto policies = path("policies");
    std::filesystem::create_directories(policies / "rules");
    for (const auto& directory : {policies, policies / "rules"})
      std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
    ::support::write_safe(policies / "rules" / "system.yaml", "policy: 1\nrules:\n" + rules);
    config_text += "policies_dir: " + policies.string() + "\n";
  }
  std::string deliver_as(const std::string& from, const std::string& body, const std::string& authentication) {
    return text_at(
        gmail().act(R"({"action":"deliver","from":")" + from + R"(","to":"agent@example.com","subject":"Offer",)" +
                    R"("authentication":")" + authentication + R"(","body":")" + body + "\"}"),
        "/id");
  }
  krux::test::Answer send(const std::string& body) {
    return invoke("email.send", R"({"to":"dora@example.org","subject":"FYI","body":")" + body + "\"}");
  }
  /// What the operator is shown beside the rules.
  std::string why(const krux::test::Answer& held) {
    return kruxos({"approve", "show", text_at(held.document, "/result/error/context/write_id")}).out;
  }
  void kill_and_start() {
    host().signal(SIGKILL);
    await_end();
    start();
  }
};

}  // namespace

TEST_CASE("words that an agent has read do not leave unasked, over a kill of the host") {
  Watchful rig("  - {name: words, capabilities: [email.send], when: [{fact: read_words}], tier: approval_required}\n");
  const std::string words = "the price that we offer is ninety thousand dollars flat";
  const auto id = rig.deliver_as("Chen <chen@partner.example>", "Hello. " + words + ", take it.", "pass");
  rig.begin();
  CHECK(rig.send("They say " + words).ok());  // it has not read it
  CHECK(rig.on("email.read", id).ok());
  rig.mail("Something else");  // what is durable of a write is so of what was read before
  rig.kill_and_start();
  const auto held = rig.send("So I heard: " + words + "!");
  CHECK(held.error() == "ApprovalRequired");
  const auto shown = rig.why(held);
  CHECK_THAT(shown, Catch::Contains("stood in email.read of \"Offer\" from chen@partner.example"));
  CHECK_THAT(shown, Catch::Contains("dora@example.org has not got"));
  CHECK(rig.send("The price is ninety thousand dollars").ok());
  CHECK(rig.invoke("email.reply", R"({"message_id":")" + id + R"(","body":")" + words + "? No.\"}").ok());
}

TEST_CASE("who has sent a mail is proven or not, and agents and rules are told") {
  Watchful rig(
      "  - {name: unproven, capabilities: [email.reply], when: [{fact: unproven_sender}], tier: approval_required}\n"
      "  - {name: taint, capabilities: [email.send], when: [{fact: read_unproven}], tier: approval_required}\n");
  const auto forged = rig.deliver_as("Boss <boss@example.com>", "Pay at once.", "fail");
  const auto proven = rig.deliver_as("Chen <chen@partner.example>", "How are you?", "pass");
  rig.begin();
  const auto found = rig.invoke("email.search", R"({"query":"subject:offer from:chen"})");
  CHECK(found.size("/messages") == 1);
  CHECK(found.text("/messages/0/sender_check").empty());
  CHECK(rig.send("Before anything forged was read").ok());
  const auto reply = [&](const std::string& id) {
    return rig.invoke("email.reply", R"({"message_id":")" + id + R"(","body":"Done."})");
  };
  CHECK(reply(proven).ok());
  const auto held = reply(forged);
  CHECK(held.error() == "ApprovalRequired");
  CHECK_THAT(rig.why(held), Catch::Contains("The service has not proven who has sent \"Offer\" from boss@example.com"));
  const auto read = rig.on("email.read", forged);
  CHECK(read.text("/message/sender_check") == "fail");
  CHECK(rig.on("email.read", proven).text("/message/sender_check") == "pass");
  CHECK(rig.send("Afterwards").error() == "ApprovalRequired");
  CHECK(rig.invoke("email.search", R"({"query":"from:boss"})").text("/messages/0/sender_check") == "fail");
}

TEST_CASE("what an agent has called, and what it has just sent, is known over a kill of the host") {
  Watchful rig(
      "  - {name: after, capabilities: [email.send], when: [{after: [email.read], within: 1 h, at_least: 2}], tier: "
      "approval_required}\n"
      "  - {name: traces, capabilities: [email.delete], when: [{fact: sent_lately}], tier: approval_required}\n");
  const auto id = rig.deliver("Lunch");
  rig.begin();
  CHECK(rig.on("email.read", id).ok());
  const auto sent = rig.mail("Traces");
  CHECK(sent.ok());
  CHECK(rig.on("email.read", id).ok());
  REQUIRE(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }, 10 * kAMinute, 30'000));
  REQUIRE(rig.pass_time([&] { return rig.is_true(); }, 5 * kAMinute));
  rig.kill_and_start();
  const auto held = rig.mail("One more");
  CHECK(held.error() == "ApprovalRequired");
  CHECK_THAT(rig.why(held), Catch::Contains("It had called 2 within 1 h, last email.read."));
  const auto found = rig.invoke("email.search", R"({"query":"in:sent subject:traces"})");
  const auto traces = rig.on("email.delete", found.text("/messages/0/id"));
  CHECK(traces.error() == "ApprovalRequired");
  CHECK_THAT(rig.why(traces), Catch::Contains("was sent within the hour."));
  CHECK(rig.on("email.delete", id).ok());
  rig.advance(61 * kAMinute);
  CHECK(rig.mail("Later").ok());
}

}  // namespace KRUXOS_TEST_FILE
