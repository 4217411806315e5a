// What the host posts to the operator's own address, over kills and failures.
#include "core/net/test_server.hpp"
#include "core/notify/webhook_key.hpp"
#include "host_fixture.hpp"
#include "metrics_page.hpp"
#include "support/safe_file.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

std::string header_of(const std::string& request, const std::string& name) {
  const auto at = request.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "";
  const auto from = at + name.size() + 4;
  return request.substr(from, request.find("\r\n", from) - from);
}

/// A host that asks about every post, and tells a receiver of it.
struct Telling : Rig {
  std::mutex mutex;
  std::vector<std::string> requests;
  bool fails = false;
  TestServer receiver{[this](Peer& peer, int) {
    for (auto asked = peer.read_request(); !asked.empty(); asked = peer.read_request()) {
      const std::lock_guard lock(mutex);
      if (!fails) requests.push_back(asked);
      peer.write(krux::test::answer("", fails ? "500 Oh" : "200 OK"));
    }
  }};

  Telling() {
    const auto policies = path("policies");
    std::filesystem::create_directories(policies / "rules");
    for (const auto& directory : {policies, policies / "rules"})
      std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
    ::support::write_safe(
        policies / "rules" / "system.yaml",
        "policy: 1\nrules:\n  - {name: posts, capabilities: [slack.send], tier: approval_required}\n");
    config_text += "policies_dir: " + policies.string() + "\nwebhook:\n  url: " + receiver.url("/T0PSECRET") +
                   "\n  secret_file: " + path("webhook.secret").string() + "\n";
    begin();
  }
  void answers(bool failing) {
    const std::lock_guard lock(mutex);
    fails = failing;
  }
  /// Of the messages of that type, the last one's body; null: there is none.
  Json last(const std::string& type) {
    const std::lock_guard lock(mutex);
    for (auto at = requests.rbegin(); at != requests.rend(); ++at) {
      auto body = parse(at->substr(at->find("\r\n\r\n") + 4));
      if (text_at(body, "/type") == type) return body;
    }
    return {};
  }
  bool tells_of(const std::string& write_id) {
    return pass_time([&] { return text_of(last("approval.waiting")).find(write_id) != std::string::npos; });
  }
  std::string asked(const std::string& text) {
    REQUIRE(send(text).error() == "ApprovalRequired");
    return text_at(operate({"approve", "list"}), "/needs_operator/0/write_id");
  }
};

}  // namespace

TEST_CASE("the operator is told of what waits, over a kill and a receiver that fails") {
  Telling rig;
  const auto first = rig.asked("the plan nobody else reads");
  REQUIRE(rig.tells_of(first));
  std::string message;
  {
    const std::lock_guard lock(rig.mutex);
    message = rig.requests.back();
  }
  const auto body = message.substr(message.find("\r\n\r\n") + 4);
  CHECK(body.find("nobody else reads") == std::string::npos);
  const auto key = krux::open_webhook_key(rig.path("webhook.secret"));
  CHECK(key.sign(header_of(message, "webhook-id"), std::stoll(header_of(message, "webhook-timestamp")), body) ==
        header_of(message, "webhook-signature"));
  rig.operate({"approve", "reject", first, "--yes"});

  rig.answers(true);
  const auto second = rig.asked("one more");
  CHECK(rig.pass_time([&] { return number_at(rig.operate({"webhook", "show"}), "/failures") > 1; }));
  CHECK(rig.kruxos({"webhook", "test"}).status.code != 0);
  CHECK(read_metrics(rig).sum("kruxos_webhook_failing_seconds") > 0);
  rig.host().signal(SIGKILL);
  rig.await_end();
  rig.answers(false);
  rig.start();
  CHECK(rig.tells_of(second));
  CHECK(rig.kruxos({"webhook", "test"}).status.code == 0);
  CHECK_FALSE(rig.last("webhook.test").IsNull());
  CHECK(read_metrics(rig).sum("kruxos_webhook_failing_seconds") == 0);
  CHECK(read_metrics(rig).sum("kruxos_webhook_delivered_total") > 0);
  // A signed head of the log comes by the same way.
  CHECK(rig.pass_time([&] { return !rig.last("audit.head").IsNull(); }));
  const auto head = rig.last("audit.head");
  const auto verify = [&](const std::string& line) {
    ::support::write_safe(rig.path("heads"), line + "\n");
    return rig.kruxos(
        {"audit", "verify", "--file", (rig.data() / "audit.db").string(), "--anchors", rig.path("heads").string()});
  };
  const auto good = verify(text_of(*find_at(head, "/data/head")));
  INFO(good.out << good.err);
  CHECK(good.status.code == 0);
  CHECK(good.out.find("1 signed head") != std::string::npos);
  auto later = text_of(*find_at(head, "/data/head"));
  later.replace(later.find("\"seq\":"), 6, "\"seq\":9");
  CHECK(verify(later).status.code != 0);

  CHECK(rig.kruxos({"config", "show"}).out.find("T0PSECRET") == std::string::npos);
  CHECK(rig.log().find("T0PSECRET") == std::string::npos);
  CHECK(rig.log().find("whsec_") == std::string::npos);
}

}  // namespace KRUXOS_TEST_FILE
