// A write that two operators must accept: ann and bob, by the real command and the real host.
#include <fstream>

#include "host_fixture.hpp"
#include "support/safe_file.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

RigOptions with_passphrases(bool shared) {
  RigOptions options;
  options.env["KRUXOS_OPERATOR__AGENTS_SHARE_USER"] = shared ? "true" : "false";
  options.config = "vault: {argon2_passes: 1, argon2_memory_mib: 16}\n";
  return options;
}

std::string passphrase_of(const std::string& name) {
  return "the passphrase of " + name;
}

/// A host whose rules want two people for each post, with the operators ann and bob.
struct ForTwo : Rig {
  explicit ForTwo(bool shared = true) : Rig(with_passphrases(shared)) {
    const auto policies = path("policies");
    std::filesystem::create_directories(policies / "rules");
    for (const auto& directory : {policies, policies / "rules"})
      std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
    rules_of("approvals: 2");
    config_text += "policies_dir: " + policies.string() + "\n";
    start();
    for (const std::string name : {"ann", "bob"}) {
      std::ofstream(path(name)) << passphrase_of(name) << "\n";
      std::filesystem::permissions(path(name), std::filesystem::perms::owner_read);
    }
    operate({"operator", "set-passphrase", "--operator", "ann"}, passphrase_of("ann") + "\n");
    as("ann", {"operator", "add", "bob"}, passphrase_of("bob") + "\n");
    as("ann", {"connect", "slack"}, std::string(kToken) + "\n");
    REQUIRE(eventually([&] { return synced(); }));
    key = text_at(as("ann", {"agent", "create", "assistant"}), "/key");
  }
  void rules_of(const std::string& more) {
    ::support::write_safe(
        path("policies") / "rules" / "system.yaml",
        "policy: 1\nrules:\n  - {name: posts, capabilities: [slack.send], tier: approval_required, " + more + "}\n");
  }
  std::vector<std::string> by(const std::string& name, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--operator", name, "--passphrase-file", path(name).string()});
    return arguments;
  }
  Json as(const std::string& name, std::vector<std::string> arguments, const std::string& in = {}) {
    return operate(by(name, std::move(arguments)), in);
  }
  /// Its exit code.
  int accept_as(const std::string& name, const std::string& id) {
    return kruxos(by(name, {"approve", "accept", id, "--yes"})).status.code;
  }
  std::string ask(const std::string& text) {
    const auto asked = send(text);
    REQUIRE(asked.error() == "ApprovalRequired");
    CHECK(number_at(asked.document, "/result/error/context/approvals_needed") == 2);
    CHECK_THAT(asked.message(), Catch::Contains("the approval of 2 people"));
    return text_at(asked.document, "/result/error/context/write_id");
  }
};

}  // namespace

TEST_CASE("ann and bob accept one write, over a kill of the host in between, and it goes out once") {
  ForTwo rig;
  const auto id = rig.ask("to everybody");
  CHECK(number_at(rig.write(id), "/write/approvals/needed") == 2);
  const auto first = rig.kruxos(rig.by("ann", {"approve", "accept", id, "--yes"}));
  CHECK(first.status.code == 0);
  CHECK_THAT(first.out, Catch::Contains("pending_approval. Accepted by ann; one more person is needed."));
  const auto again = rig.kruxos(rig.by("ann", {"approve", "accept", id, "--yes"}));
  CHECK(again.status.code == 5);
  CHECK_THAT(again.err, Catch::Contains("operator:ann") && Catch::Contains("accepted it already"));
  CHECK_THAT(rig.kruxos({"approve", "list"}).out, Catch::Contains("pending_approval (1 of 2)"));
  CHECK_THAT(rig.kruxos({"approve", "show", id}).out, Catch::Contains("Accepted by ann; one more person is needed."));

  rig.host().signal(SIGKILL);
  rig.await_end();
  rig.start();
  CHECK(text_at(rig.write(id), "/write/approvals/given/0/who") == "operator:ann");
  CHECK(rig.kruxos({"approve", "accept", id, "--yes", "--passphrase-file", rig.path("ann").string()}).status.code == 2);
  CHECK(rig.accept_as("bob", id) == 0);
  CHECK(rig.pass_time([&] { return rig.state(id) == "completed"; }));
  CHECK(rig.posts_of("to everybody") == 1);
  const auto done = rig.write(id);
  CHECK(text_at(done, "/write/decided_by") == "operator:bob");
  CHECK(size_at(done, "/write/approvals/given") == 2);
  CHECK(size_at(rig.operate({"audit", "query", "--kind", "write.accepted_by_one"}), "/rows") == 1);
  CHECK(size_at(rig.operate({"audit", "query", "--kind", "write.accept"}), "/rows") == 1);
  CHECK(rig.kruxos({"audit", "verify"}).status.code == 0);
  CHECK_THAT(rig.kruxos({"operator", "list"}).out, Catch::Contains("ann") && Catch::Contains("bob"));
  CHECK_THAT(rig.kruxos(rig.by("cleo", {"operator", "list"})).out, Catch::Contains("ann"));
}

TEST_CASE("an edit makes void what ann accepted, and who is removed counts no more") {
  ForTwo rig;
  const auto id = rig.ask("a first text");
  CHECK(rig.accept_as("ann", id) == 0);
  rig.as("bob", {"approve", "edit", id, "text=a second text", "--yes"});
  CHECK(size_at(rig.write(id), "/write/approvals/given") == 0);
  CHECK(rig.accept_as("bob", id) == 0);
  CHECK(rig.state(id) == "pending_approval");
  CHECK(rig.accept_as("ann", id) == 0);
  CHECK(rig.state(id) == "buffered");
  rig.as("ann", {"operator", "remove", "bob", "--yes"});
  CHECK(rig.pass_time([&] { return rig.state(id) == "pending_approval"; }));
  CHECK(text_at(rig.write(id), "/write/approvals/given/0/who") == "operator:ann");
  CHECK(rig.kruxos(rig.by("ann", {"operator", "remove", "ann", "--yes"})).status.code == 5);
  CHECK(rig.posts_of("a second text") == 0);
  // The like of it is approved by nobody; one rejects it.
  CHECK(rig.kruxos(rig.by("ann", {"approve", "accept", id, "--like", "1h", "--yes"})).status.code == 5);
  CHECK(rig.kruxos(rig.by("ann", {"approve", "reject", id, "--yes"})).status.code == 0);
  CHECK(rig.state(id) == "rejected");
}

TEST_CASE("where the socket is enough, two people still show their passphrases for a write that needs two") {
  ForTwo rig(false);
  const auto id = rig.ask("hello");
  const auto hash = text_at(rig.write(id), "/write/content_hash");
  const auto refused = rig.control("POST", "/writes/" + id + "/accept", R"({"content_hash":")" + hash + "\"}");
  CHECK(refused.status == 401);
  CHECK_THAT(refused.body, Catch::Contains("told apart by their passphrases"));
  CHECK(rig.kruxos({"approve", "accept", id, "--yes"}).status.code == 2);
  CHECK(rig.state(id) == "pending_approval");
  CHECK(rig.accept_as("ann", id) == 0);
  CHECK(rig.accept_as("bob", id) == 0);
  CHECK(rig.pass_time([&] { return rig.state(id) == "completed"; }));
  // Who may decide is said by one who is known, and the rest by the socket as ever.
  CHECK(rig.control("POST", "/operators/cleo", R"({"new_passphrase":"a passphrase"})").status == 401);
  CHECK(rig.kruxos({"agent", "create", "another"}).status.code == 0);
}

TEST_CASE("killed while one of two accepts, it is accepted by one or by none, and by two it goes out") {
  const std::string point = GENERATE("write.accept.before_commit", "write.accept.after_commit");
  CAPTURE(point);
  ForTwo rig;
  const auto id = rig.ask("once");
  CHECK(rig.stop().ok());
  rig.start(point);
  CHECK(rig.accept_as("ann", id) != 0);
  CHECK(rig.await_end().signal == SIGKILL);
  rig.start();
  const auto given = size_at(rig.write(id), "/write/approvals/given");
  CHECK(given == (point.ends_with("after_commit") ? 1 : 0));
  CHECK(rig.accept_as("bob", id) == 0);
  CHECK(rig.state(id) == (given == 1 ? "buffered" : "pending_approval"));
  if (given == 0) CHECK(rig.accept_as("ann", id) == 0);
  CHECK(rig.pass_time([&] { return rig.state(id) == "completed"; }));
  CHECK(rig.posts_of("once") == 1);
  CHECK(rig.kruxos({"audit", "verify"}).status.code == 0);
}

}  // namespace KRUXOS_TEST_FILE
