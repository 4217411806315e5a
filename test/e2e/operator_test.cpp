// What the operator's command says and refuses, about writes of every kind.
#include <sqlite3.h>

#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

struct OperatorRig : Rig {
  explicit OperatorRig(const RigOptions& options = {}) : Rig(options) { begin(); }
  /// A write whose outcome nobody knows, and which a person was asked about.
  std::string told_write(const std::string& text) {
    slack().fault(R"({"method":"chat.postMessage","kind":"reset"})");
    auto id = send(text).write_id();
    REQUIRE(pass_time([&] { return told(id); }, 1'800'000));
    return id;
  }
  int code(const std::vector<std::string>& arguments) { return kruxos(arguments).status.code; }
};

/// In the ledger of a host that has stopped.
void change(const std::filesystem::path& file, const char* sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open_v2(file.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK);
  CHECK(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
}

}  // namespace

TEST_CASE("a write of unknown outcome is not decided as if it were a dead letter") {
  OperatorRig rig;
  const auto id = rig.told_write("Once at most.");
  for (const auto* command : {"retry", "discard"}) {
    const auto refused = rig.kruxos({"dlq", command, id, "--yes"});
    CHECK(refused.status.code == 5);
    CHECK_THAT(refused.err, Catch::Contains("has an unknown outcome") && Catch::Contains("no longer dead_letter"));
  }
  rig.advance(15 * 60'000);
  CHECK(rig.told(id));
  CHECK(rig.posts_of("Once at most.") == 0);
  CHECK(rig.control("POST", "/writes/" + id + "/resolve", R"({"decision":"resend","expected_state":"dead_letter"})")
            .status == 409);
  CHECK(rig.control("POST", "/writes/" + id + "/resolve", R"({"decision":"discard","expected_state":"unknown"})")
            .status == 200);
}

TEST_CASE("an undo that nobody can tell of shows what it is about, and since when") {
  OperatorRig rig;
  const auto id = rig.send("Look for me.").write_id();
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "completed"; }, 130'000));
  rig.slack().fault(R"({"method":"chat.delete","kind":"reset"})");
  rig.kruxos({"approve", "rollback", id, "--yes"});
  const auto undo = text_at(rig.operate({"approve", "list"}), "/pending/0/write_id");
  REQUIRE(rig.pass_time([&] { return rig.told(undo); }, 1'800'000));
  const auto shown = rig.kruxos({"approve", "show", undo}).out;
  CHECK_THAT(shown, Catch::Contains("slack.send") && Catch::Contains("Look for me.") && Catch::Contains("general)") &&
                        Catch::Contains("Attempted") && Catch::Contains("still stands at the service"));
}

TEST_CASE("a write that was marked as happened says why it cannot be undone") {
  OperatorRig rig;
  const auto id = rig.told_write("Somebody saw it.");
  const auto decided = rig.operate({"approve", "resolve", id, "--happened", "--yes"});
  CHECK(find_at(decided, "/write/history") == nullptr);
  const auto write = rig.write(id);
  CHECK(text_at(write, "/write/state") == "completed");
  CHECK(number_at(write, "/write/rollback_until_ms") == 0);
  CHECK(find_at(write, "/write/error")->IsNull());
  CHECK(number_at(write, "/write/history_total") == static_cast<std::int64_t>(size_at(write, "/write/history")));
  const auto shown = rig.kruxos({"approve", "show", id}).out;
  CHECK_THAT(shown, Catch::Contains("cannot undo it") && !Catch::Contains("Undoable until"));
  CHECK_THAT(rig.kruxos({"approve", "rollback", id, "--yes"}).err, Catch::Contains("marked as happened by a person"));
  CHECK_THAT(rig.invoke("proxy.rollback", R"({"write_id":")" + id + "\"}").message(),
             Catch::Contains("Undo it at the service"));
}

TEST_CASE("every write that a new connection leaves behind is named") {
  OperatorRig rig;
  const auto first = rig.send("one").write_id(), second = rig.send("two").write_id();
  REQUIRE(rig.stop().ok());
  change(rig.data() / "kruxos.db", "UPDATE writes SET generation = 7");
  rig.start();
  rig.connect();
  const auto alerts = [&] { return text_of(rig.operate({"alerts"})); };
  REQUIRE(eventually([&] { return alerts().find("write_stranded") != std::string::npos; }));
  CHECK_THAT(alerts(), Catch::Contains("approve cancel " + first) && Catch::Contains("approve cancel " + second));
  rig.connect();
  CHECK(size_at(rig.operate({"alerts"}), "/alerts") == 2);
}

}  // namespace KRUXOS_TEST_FILE
