// What waits for a person: approved beforehand with the like of it, or rejected since nobody has decided.
#include "host_fixture.hpp"
#include "support/safe_file.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

/// A host whose rules ask about every post, and let nobody wait for more than two hours.
struct Asking : Rig {
  Asking() {
    const auto policies = path("policies");
    std::filesystem::create_directories(policies / "rules");
    for (const auto& directory : {policies, policies / "rules"})
      std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
    ::support::write_safe(
        policies / "rules" / "system.yaml",
        "policy: 1\nrules:\n"
        "  - {name: posts, capabilities: [slack.send], tier: approval_required, expires_after: 2 h}\n");
    config_text += "policies_dir: " + policies.string() + "\n";
    begin();
  }
};

}  // namespace

TEST_CASE("the like of a post goes out unasked, over a kill of the host, until somebody ends that") {
  Asking rig;
  const auto first = rig.send("the first report");
  REQUIRE(first.error() == "ApprovalRequired");
  const auto id = text_at(rig.operate({"approve", "list"}), "/needs_operator/0/write_id");
  rig.operate({"approve", "accept", id, "--like", "1h", "--most", "3", "--yes"});
  const auto second = rig.send("the second report");
  CHECK(second.ok());
  CHECK(rig.send("elsewhere", "random").error() == "ApprovalRequired");
  CHECK(rig.pass_time([&] { return rig.state(second.write_id()) == "completed"; }));

  rig.host().signal(SIGKILL);
  rig.await_end();
  rig.start();
  const auto third = rig.send("the third report");
  CHECK(third.ok());
  const auto standing = rig.operate({"approve", "standing"});
  CHECK(number_at(standing, "/standing_approvals/0/used") == 2);
  const auto standing_id = text_at(standing, "/standing_approvals/0/standing_id");
  CHECK(text_at(rig.write(third.write_id()), "/write/standing_approval") == standing_id);
  rig.operate({"approve", "standing", "--end", standing_id});
  CHECK(rig.kruxos({"approve", "standing", "--end", standing_id}).status.code == 4);
  CHECK(rig.pass_time([&] { return rig.state(third.write_id()) == "pending_approval"; }));
  CHECK(rig.send("the fourth report").error() == "ApprovalRequired");
  CHECK(rig.posts_of("the second report") == 1);
  CHECK(rig.posts_of("the third report") == 0);
  CHECK(size_at(rig.operate({"audit", "query", "--kind", "approval.standing"}), "/rows") == 1);
  CHECK(size_at(rig.operate({"audit", "query", "--kind", "approval.standing_ended"}), "/rows") == 1);
  CHECK(rig.kruxos({"audit", "verify"}).status.code == 0);
}

TEST_CASE("what nobody decides in time is rejected, and its agent is told until when it waits") {
  Asking rig;
  const auto asked = rig.send("may I");
  REQUIRE(asked.error() == "ApprovalRequired");
  CHECK_FALSE(text_at(asked.document, "/result/error/context/approval_until").empty());
  const auto id = text_at(rig.operate({"approve", "list"}), "/needs_operator/0/write_id");
  rig.advance(3'600'000);
  rig.host().signal(SIGKILL);
  rig.await_end();
  rig.start();
  CHECK(rig.state(id) == "pending_approval");
  CHECK(rig.pass_time([&] { return rig.state(id) == "rejected"; }, 4'000'000, 60'000));
  CHECK(rig.kruxos({"approve", "accept", id, "--yes"}).status.code == 5);
  CHECK(rig.posts_of("may I") == 0);
  CHECK(size_at(rig.operate({"audit", "query", "--kind", "write.expire"}), "/rows") == 1);
}

TEST_CASE("killed while an approval expires, it has expired once") {
  const std::string point = GENERATE("write.approval_expire.before_commit", "write.approval_expire.after_commit");
  CAPTURE(point);
  Asking rig;
  REQUIRE(rig.send("may I").error() == "ApprovalRequired");
  const auto id = text_at(rig.operate({"approve", "list"}), "/needs_operator/0/write_id");
  CHECK(rig.stop().ok());
  rig.start(point);
  rig.pass_time([&] { return !rig.alive(); }, 9'000'000, 60'000);
  CHECK(rig.await_end().signal == SIGKILL);
  rig.start();
  CHECK(rig.pass_time([&] { return rig.state(id) == "rejected"; }, 120'000, 10'000));
  CHECK(rig.posts_of("may I") == 0);
  CHECK(size_at(rig.operate({"audit", "query", "--kind", "write.expire"}), "/rows") == 1);
  CHECK(rig.kruxos({"audit", "verify"}).status.code == 0);
}

}  // namespace KRUXOS_TEST_FILE
