// Other rules over what the audit log tells of.
#include "host_fixture.hpp"
#include "support/safe_file.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

std::string directory_with(Rig& rig, const std::string& name, const std::string& rules) {
  const auto policies = rig.path(name);
  std::filesystem::create_directories(policies / "rules");
  for (const auto& directory : {policies, policies / "rules"})
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
  ::support::write_safe(policies / "rules" / "system.yaml", "policy: 1\nrules:\n" + rules);
  return policies.string();
}

}  // namespace

TEST_CASE("other rules are asked what they would have decided about what happened") {
  Rig rig;
  const auto now = directory_with(rig, "now",
                                  "  - {name: parties, capabilities: [slack.send], tier: approval_required, when: "
                                  "[{input: text, prefix: party}]}\n");
  rig.config_text += "policies_dir: " + now + "\n";
  rig.begin();
  CHECK(rig.send("hello").ok());
  CHECK(rig.send("party at eight").error() == "ApprovalRequired");
  CHECK(rig.invoke("slack.channels").ok());

  const auto simulate = [&](const std::string& directory) {
    const auto done = rig.kruxos({"--json", "policy", "simulate", directory});
    INFO(done.err);
    return std::pair(done.status.code, parse(done.out));
  };
  const auto [same, nothing] = simulate(now);
  CHECK(same == 0);
  CHECK(number_at(nothing, "/decisions") >= 2);
  CHECK(number_at(nothing, "/same") == number_at(nothing, "/decisions"));

  const auto [looser, loose] = simulate(directory_with(rig, "loose", "  []\n"));
  CHECK(looser == 1);
  CHECK(number_at(loose, "/looser") == 1);
  CHECK(text_at(loose, "/different/0/was") == "approval_required");
  CHECK(text_at(loose, "/different/0/was_by").find("(parties)") != std::string::npos);

  const auto [stricter, strict] =
      simulate(directory_with(rig, "strict", "  - {name: no posts, capabilities: [\"slack.*\"], tier: blocked}\n"));
  CHECK(stricter == 1);
  CHECK(number_at(strict, "/stricter") >= 2);
  CHECK(text_at(strict, "/different/0/now_by/rule") == "no posts");
  CHECK(rig.kruxos({"policy", "simulate", rig.path("none").string()}).status.code != 0);
  CHECK(rig.kruxos({"policy", "simulate", now, "--since", "yesterday"}).status.code != 0);
}

}  // namespace KRUXOS_TEST_FILE
