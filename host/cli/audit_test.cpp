#include <catch2/catch.hpp>
#include <fstream>

#include "core/audit/audit_log.hpp"
#include "core/audit/decision_receipt.hpp"
#include "core/audit/query.hpp"
#include "core/storage/group_commit.hpp"
#include "host/cli/cli_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

constexpr const char* kRows =
    R"({"head":9,"rows":[{"seq":9,"at":"2026-11-21T09:30:00.000Z","kind":"write.accept","agent_id":"agent_1",)"
    R"("write_id":"w_1","agent":"reporter","body":{"from":"pending_approval","to":"buffered","who":"operator:ann"}},)"
    R"({"seq":8,"at":"2026-11-21T09:29:00.000Z","kind":"write.submitted","agent_id":"agent_1","write_id":"w_1",)"
    R"("agent":"reporter","body":{"operation":"notes.add","state":"pending_approval","decision":{"decided_by":)"
    R"({"rule":"ask first","layer":"system","file":"rules.yaml","line":12}}}}]})";

}  // namespace

TEST_CASE("audit query shows what was asked for, who decided and by which rule") {
  CliFixture f;
  f.api.answers["audit"] = kRows;
  CHECK(f.run({"audit", "query", "--agent", "reporter", "--kind", "write", "--since", "2026-11-21", "--limit", "7"}) ==
        0);
  CHECK(has(f.out(), "pending_approval -> buffered, by operator:ann"));
  CHECK(has(f.out(), "notes.add, pending_approval, rule ask first (rules.yaml:12)"));
  CHECK(f.api.asked() == std::vector<std::string>{"audit reporterwrite 1795219200000 0 0 7"});
  f.api.answers["audit"] =
      R"({"rows":[{"seq":4,"kind":"call","body":{"capability":"email.read","outcome":"ok","requests":2}},)"
      R"({"seq":3,"kind":"operator","body":{"action":"POST /v1/x","outcome":"asked","who":"operator:ann"}},)"
      R"({"seq":2,"kind":"sync","body":{"pass":"full","outcome":"ok"}}]})";
  CHECK(f.run({"audit", "query"}) == 0);
  CHECK(has(f.out(), "email.read, ok, 2 requests"));
  CHECK(has(f.out(), "POST /v1/x, asked, by operator:ann"));
  CHECK(has(f.out(), "full, ok"));
  f.api.answers["audit"] = kRows;
  CHECK(f.run({"audit", "query", "--json"}) == 0);
  CHECK(has(f.out(), R"("line":12)"));
  f.api.answers["audit"] = R"({"rows":[],"problem":"The disk is full."})";
  CHECK(f.run({"audit", "query"}) == 0);
  CHECK(has(f.out(), "No row fits."));
  CHECK(has(f.err(), "The disk is full."));
  CHECK(f.run({"audit", "query", "--since", "yesterday"}) != 0);
  CHECK(has(f.err(), "since"));
}

TEST_CASE("audit verify names what is wrong, and its exit code says so") {
  CliFixture f;
  const std::string hash(64, 'a');
  f.api.answers["verify_audit"] =
      R"({"whole":true,"rows":7,"first":1,"last":7,"head_hash":")" + hash + R"(","problems":[],"notes":["a note"]})";
  CHECK(f.run({"audit", "verify"}) == 0);
  CHECK(has(f.out(), "The audit log is whole: 7 rows, 1 to 7, head " + hash));
  CHECK(has(f.err(), "a note"));
  f.api.answers["verify_audit"] = R"({"whole":true,"rows":7,"first":1,"last":7,"heads":3,"newest_head":6,)"
                                  R"("newest_head_at_ms":1795219200000,"problems":[],"notes":[]})";
  CHECK(f.run({"audit", "verify"}) == 0);
  CHECK(has(f.out(), "3 signed heads were compared; the newest is that of row 6, 2026-11-21T"));
  f.api.answers["verify_audit"] =
      R"({"whole":false,"rows":6,"first":1,"last":6,"problems":[{"seq":4,"kind":"changed","message":"row 4 was changed."}]})";
  CHECK(f.run({"audit", "verify"}) == 1);
  CHECK(has(f.out(), "row 4 was changed."));
  CHECK(f.run({"audit", "verify", "--json"}) == 1);
}

TEST_CASE("audit verify reads a file without a host") {
  CliFixture f;
  const auto file = f.scratch.path() / "audit.db";
  {
    DrivenClock clock;
    GroupCommit store(f.scratch.path() / "kruxos.db", kLedgerKind);
    AuditLog log(store, clock, {file});
    AuditEntry entry;
    entry.kind = "read";
    log.add(entry);
  }
  f.server.stop(0);
  CHECK(f.run({"audit", "verify", "--file", file}) == 0);
  CHECK(has(f.out(), "The audit log is whole: 2 rows, 1 to 2"));
  CHECK(has(f.out(), "No signed head was compared"));
  CHECK(f.run({"audit", "verify", "--file", file, "--json"}) == 0);
  CHECK(has(f.out(), R"("whole":true)"));
  CHECK(has(f.out(), R"("rows":2)"));
  CHECK(f.run({"audit", "verify", "--file", file, "--anchors", f.scratch.path() / "no.heads"}) == 1);
  CHECK(has(f.err(), "There is no file"));
  CHECK(f.run({"audit", "verify", "--file", f.scratch.path() / "nothing.db"}) == 1);
}

TEST_CASE("audit export gives all rows, one a line") {
  CliFixture f;
  std::string rows;
  for (int i = 1; i <= 1000; ++i) rows += (i > 1 ? "," : "") + std::string(R"({"seq":)") + std::to_string(i) + "}";
  f.api.answers["audit_export 0 1000"] = R"({"rows":[)" + rows + "]}";
  f.api.answers["audit_export 1000 1000"] = R"({"rows":[{"seq":1001}]})";
  CHECK(f.run({"audit", "export"}) == 0);
  const auto out = f.out();
  CHECK(std::count(out.begin(), out.end(), '\n') == 1001);
  CHECK(has(out, "{\"seq\":1001}\n"));
  CHECK(f.run({"audit", "export", "--after", "1000"}) == 0);
  CHECK(f.out() == "{\"seq\":1001}\n");
}

TEST_CASE("a receipt of decisions is fetched, and checked without a host") {
  CliFixture f;
  const auto file = f.scratch.path() / "receipt.json";
  std::string key;
  {
    DrivenClock clock;
    GroupCommit store(f.scratch.path() / "kruxos.db", kLedgerKind);
    AuditOptions options;
    options.file = f.scratch.path() / "audit.db";
    options.key_file = f.scratch.path() / "audit.key";
    AuditLog log(store, clock, options);
    AuditEntry entry;
    entry.kind = "write.accept";
    entry.write_id = "w_1";
    entry.body = R"({"from":"pending_approval","to":"buffered","who":"operator:ann","content_hash":"c0ffee"})";
    log.add(entry);
    REQUIRE(log.flush());
    key = log.status().key;
    f.api.answers["decision_receipt w_1"] =
        make_decision_receipt(log.status(), "w_1", audit_rows_of_write(options.file, "w_1"), clock.wall_ms(),
                              [&](std::string_view message) { return log.sign(message); });
  }
  CHECK(f.run({"receipt", "get", "w_1", "--output", file}) == 0);
  f.server.stop(0);
  CHECK(f.run({"receipt", "verify", file, "--key", key}) == 0);
  CHECK(has(f.out(), "pending_approval -> buffered, by operator:ann, c0ffee"));
  CHECK(has(f.out(), "as the key " + key + " has signed it."));
  CHECK(has(f.out(), "Its beginning is not in it"));
  CHECK(f.run({"receipt", "verify", file}) == 0);
  CHECK(has(f.err(), "kruxos audit key"));
  CHECK(f.run({"receipt", "verify", file, "--key", std::string(64, '0')}) == 1);
  std::ifstream in(file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  text.replace(text.find("operator:ann"), 12, "operator:bob");
  std::ofstream(file) << text;
  CHECK(f.run({"receipt", "verify", file, "--key", key}) == 1);
  CHECK(has(f.out(), "The receipt proves nothing"));
}

TEST_CASE("the audit log's key is shown, and replaced once it was asked") {
  CliFixture f;
  f.api.answers["audit"] = R"({"rows":[],"key":"ab"})";
  CHECK(f.run({"audit", "key"}) == 0);
  CHECK(f.out() == "ab\n");
  f.api.answers["rotate_audit_key"] = R"({"key":"cd"})";
  CHECK(f.run({"audit", "rotate-key", "--yes"}) == 0);
  CHECK(f.out() == "cd\n");
}

}  // namespace KRUXOS_TEST_FILE
