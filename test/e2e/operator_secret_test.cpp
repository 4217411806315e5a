// A host whose agents run as its own user: what the operator's passphrase keeps them from.
#include <fstream>

#include "host_fixture.hpp"
#include "support/safe_file.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr const char* kPassphrase = "a passphrase of some length";

RigOptions shared_with_agents() {
  RigOptions options;
  options.env["KRUXOS_OPERATOR__AGENTS_SHARE_USER"] = "true";
  options.config = "vault: {argon2_passes: 1, argon2_memory_mib: 16}\n";
  return options;
}

/// What the operator says, with his passphrase.
Json said(Rig& rig, std::vector<std::string> arguments, const std::string& in = {}) {
  arguments.insert(arguments.end(), {"--passphrase-file", rig.path("passphrase").string()});
  return rig.operate(std::move(arguments), in);
}

void write_passphrase(Rig& rig) {
  std::ofstream(rig.path("passphrase")) << kPassphrase << "\n";
  std::filesystem::permissions(rig.path("passphrase"), std::filesystem::perms::owner_read);
}

}  // namespace

TEST_CASE("an agent under the operator's user decides nothing") {
  Rig rig(shared_with_agents());
  const auto policies = rig.path("policies");
  std::filesystem::create_directory(policies);
  std::filesystem::permissions(policies, std::filesystem::perms::owner_all);
  ::support::write_safe(policies / "slack.yaml",
                        "policy: 1\nservice: slack\ncapabilities: {slack.send: {tier: approval_required}}\n");
  rig.config_text += "policies_dir: " + policies.string() + "\n";
  rig.start();
  write_passphrase(rig);
  CHECK_THAT(rig.kruxos({"agent", "create", "early"}).err, Catch::Contains("kruxos operator set-passphrase"));
  rig.operate({"operator", "set-passphrase"}, std::string(kPassphrase) + "\n");
  said(rig, {"connect", "slack"}, std::string(kToken) + "\n");
  REQUIRE(eventually([&] { return rig.synced(); }));
  rig.key = text_at(said(rig, {"agent", "create", "assistant"}), "/key");
  const auto asked = rig.send("May this go out?");
  CHECK(asked.error() == "ApprovalRequired");
  const auto id = text_at(rig.operate({"approve", "list"}), "/needs_operator/0/write_id");
  REQUIRE_FALSE(id.empty());
  const auto hash = text_at(rig.write(id), "/write/content_hash");

  // The same user, the socket, a key of an agent, and every file that the host keeps.
  const auto with_hash = R"({"content_hash":")" + hash + "\"}";
  CHECK(rig.control("POST", "/writes/" + id + "/accept", with_hash).status == 401);
  CHECK(rig.control("POST", "/writes/" + id + "/edit", R"({"content_hash":")" + hash + R"(","arguments":{"text":"x"}})")
            .status == 401);
  CHECK(rig.control("POST", "/decisions",
                    R"({"decision":"accept","writes":[{"write_id":")" + id + R"(","content_hash":")" + hash + "\"}]}")
            .status == 401);
  CHECK(rig.control("POST", "/agents", R"({"name":"another"})").status == 401);
  CHECK(rig.control("POST", "/agents/assistant/rotate", "").status == 401);
  CHECK(rig.kruxos({"approve", "accept", id, "--yes"}).status.code == 2);
  std::ifstream ledger(rig.data() / "kruxos.db", std::ios::binary), log(rig.data() / "kruxos.db-wal", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(ledger)), {}),
      more((std::istreambuf_iterator<char>(log)), {});
  const auto all = bytes + more;
  CHECK(all.find(kPassphrase) == std::string::npos);
  const auto at = all.find("$argon2id$");
  REQUIRE(at != std::string::npos);
  const auto verifier = all.substr(at, 97);
  CHECK(rig.control("POST", "/operator/grant", R"({"passphrase":")" + verifier + "\"}").status == 401);
  for (const auto& shown : {verifier, rig.key, std::string(64, 'a')}) {
    const auto reply = http_request((rig.data() / "control.sock").string(), "POST", "/v1/writes/" + id + "/accept",
                                    {{"host", "localhost"},
                                     {"content-type", "application/json"},
                                     {"kruxos-grant", shown},
                                     {"authorization", "Bearer " + shown}},
                                    with_hash);
    CHECK(reply.status == 401);
  }
  CHECK(text_at(rig.write(id), "/write/state") == "pending_approval");

  // It is not the operator's word that is missing, but the passphrase; over a restart too.
  REQUIRE(rig.stop().ok());
  rig.start();
  CHECK(rig.control("POST", "/writes/" + id + "/accept", with_hash).status == 401);
  CHECK(text_at(said(rig, {"approve", "accept", id, "--yes"}), "/results/0/state") == "buffered");
  CHECK(rig.control("POST", "/writes/" + id + "/cancel", "").status == 200);
  CHECK(rig.log().find(kPassphrase) == std::string::npos);
}

}  // namespace KRUXOS_TEST_FILE
