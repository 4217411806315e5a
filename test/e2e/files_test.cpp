// Agents' files, through the whole host: connected by two lines of the configuration, written, undone, killed on the
// way.
#include "local_rig.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

struct FilesRig : LocalRig {
  FilesRig() {
    add_files();
    begin();
  }
};

constexpr const char* kWrite = R"({"path":"/workspace/a.txt","content":"new"})";

}  // namespace

TEST_CASE("files need two lines of configuration, and each agent has its own") {
  FilesRig rig;
  CHECK(rig.invoke("filesystem.list", R"({"path":"/workspace"})").number("/total") == 0);
  const auto written = rig.invoke("filesystem.write", R"({"path":"/workspace/data/page_1.json","content":"{}"})");
  INFO(text_of(written.document));
  REQUIRE(written.ok());
  CHECK(written.text("/status") == "ok");
  CHECK(rig.content("data/page_1.json") == "{}");
  const auto read = rig.invoke("filesystem.read", R"({"path":"data/page_1.json"})");
  CHECK(read.text("/content") == "{}");
  CHECK(read.text("/content_trust") == "untrusted");
  const auto other = rig.new_agent("other");
  CHECK(rig.invoke_as(other, "filesystem.list").number("/total") == 0);
  CHECK(rig.invoke_as(other, "filesystem.read", R"({"path":"data/page_1.json"})").error() == "FileNotFound");
  const auto escape = rig.invoke("filesystem.read", R"({"path":"/workspace/../../etc/passwd"})");
  CHECK(escape.error() == "InvalidInput");
  std::filesystem::create_symlink("/etc", rig.files() / "etc");
  CHECK(rig.invoke("filesystem.read", R"({"path":"etc/passwd"})").error() == "LinkRefused");
}

TEST_CASE("a write to a file can be undone by its agent, and not when somebody has changed it") {
  FilesRig rig;
  REQUIRE(rig.invoke("filesystem.write", R"({"path":"a.txt","content":"old"})").ok());
  const auto second = rig.invoke("filesystem.write", kWrite);
  REQUIRE(second.ok());
  CHECK_FALSE(second.text("/undo_until").empty());
  const auto undone = rig.invoke("proxy.rollback", R"({"write_id":")" + second.write_id() + "\"}");
  INFO(text_of(undone.document));
  REQUIRE(undone.ok());
  CHECK(rig.content("a.txt") == "old");
  CHECK(rig.state(second.write_id()) == "rolled_back");
  const auto third = rig.invoke("filesystem.delete", R"({"path":"a.txt"})");
  REQUIRE(third.ok());
  std::ofstream(rig.files() / "a.txt") << "mine";
  CHECK(rig.invoke("proxy.rollback", R"({"write_id":")" + third.write_id() + "\"}").error() == "RollbackConflict");
  CHECK(rig.content("a.txt") == "mine");
  std::filesystem::remove(rig.files() / "a.txt");
  // The operator's undo is of the agent's workspace too.
  CHECK(rig.kruxos({"approve", "rollback", third.write_id(), "--yes"}).status.ok());
  CHECK(eventually([&] { return rig.content("a.txt") == "old"; }));
}

TEST_CASE("a host that is killed around a write to a file has written it once") {
  for (const char* point : {"write.submit.after_commit", "write.claim.after_commit",
                            "write.rollback_point.after_commit", "write.execute.before_call",
                            "write.execute.after_call", "write.outcome.before_commit", "write.outcome.after_commit"}) {
    FilesRig rig;
    REQUIRE(rig.invoke("filesystem.mkdir", R"({"path":"d"})").ok());
    std::ofstream(rig.files() / "a.txt") << "old";
    const auto files = rig.files();
    rig.arm(point);
    CHECK_FALSE(rig.invoke("filesystem.write", kWrite).ok());
    rig.expect_killed();
    rig.start();
    const auto list = parse(rig.control("GET", "/writes?limit=10").body);
    std::string id;
    for (std::size_t i = 0; i < size_at(list, "/writes"); ++i) {
      const auto at = "/writes/" + std::to_string(i);
      if (text_at(list, at + "/operation") == "filesystem.write") id = text_at(list, at + "/write_id");
    }
    INFO(point);
    REQUIRE_FALSE(id.empty());
    CHECK(rig.rest_of(id) == "completed");
    CHECK(rig.content("a.txt") == "new");
    CHECK(rig.invoke("proxy.rollback", R"({"write_id":")" + id + "\"}").ok());
    CHECK(rig.content("a.txt") == "old");
  }
}

TEST_CASE("files that the configuration does not name are not there, and no command connects them") {
  LocalRig rig;
  rig.add("filesystem", KRUXOS_FILESYSTEM_ADAPTER, KRUXOS_DEFINITIONS "/filesystem.yaml", "");
  rig.begin();
  CHECK(rig.invoke("filesystem.list").error() == "NotConnected");
  const auto connect = rig.kruxos({"connect", "filesystem"}, "token\n");
  CHECK_FALSE(connect.status.ok());
  CHECK((connect.out + connect.err).find("services.filesystem") != std::string::npos);
  // It is served as long as the configuration names it.
  const auto before = rig.config_text;
  rig.config_text += "  filesystem:\n    adapter: {root: " + rig.root().string() + "}\n";
  REQUIRE(rig.stop().ok());
  rig.start();
  CHECK(rig.invoke("filesystem.list").ok());
  rig.config_text = before;
  REQUIRE(rig.stop().ok());
  rig.start();
  CHECK(rig.invoke("filesystem.list").error() == "NotConnected");
}

TEST_CASE("a root that cannot be used is told to the operator, and the rest is served") {
  LocalRig rig;
  rig.add_files("    adapter: {root: /proc/no/such}\n");
  rig.begin();
  CHECK(rig.invoke("filesystem.list").error() == "ServiceUnavailable");
  CHECK(rig.kruxos({"alerts"}).out.find("adapter.root") != std::string::npos);
  CHECK(rig.send("still here").ok());
}

}  // namespace KRUXOS_TEST_FILE
