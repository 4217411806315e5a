#include "core/capability/call_audit.hpp"

#include <catch2/catch.hpp>

#include "core/audit/audit_log.hpp"
#include "core/audit/query.hpp"
#include "core/capability/handler_test_support.hpp"
#include "support/fault_vfs.hpp"

namespace KRUXOS_TEST_FILE {

using namespace handler_test;

namespace {

/// A handler whose calls are audited.
struct Audited {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store{scratch.path() / "kruxos.db", kLedgerKind};
  AuditLog log{store, clock, {scratch.path() / "audit.db"}};
  Host host;

  explicit Audited(bool stops_reads = false) : host(options(log, stops_reads)) { host.connect(); }
  static HandlerOptions options(AuditLog& log, bool stops_reads) {
    HandlerOptions options;
    options.audit = &log;
    options.audit_stops_reads = stops_reads;
    return options;
  }
  std::vector<AuditRow> calls() {
    log.flush();
    AuditFilter filter;
    filter.kind = "call";
    return find_audit_rows(scratch.path() / "audit.db", filter);
  }
  std::string last(const char* member) {
    const auto all = calls();
    if (all.empty()) return "no row";
    const auto body = parse_json(all.front().body, "body");
    const auto* value = find_member(body, member);
    return !value ? "none" : value->IsString() ? std::string(view(*value)) : to_json(*value);
  }
};

}  // namespace

TEST_CASE("each call that admits no write has its row in the audit log") {
  Audited f;
  CHECK(type_of(f.host.call("notes.search", R"({"query":"a secret word"})")) == "none");
  CHECK(f.calls().size() == 1);
  CHECK(f.calls()[0].agent_id == "agent_1");
  CHECK(f.calls()[0].service == "notes");
  CHECK(f.calls()[0].account_id == "N1");
  CHECK(f.last("capability") == "notes.search");
  CHECK(f.last("outcome") == "ok");
  CHECK(f.last("session_id") == "sess_1");
  CHECK(f.last("parameters") == R"({"query":{"type":"text","bytes":13}})");
  CHECK(f.last("decision") ==
        R"({"tier":"autonomous","decided_by":{"definition":"1.0.0","capability":"notes.search"}})");
  CHECK(f.calls()[0].body.find("secret") == std::string::npos);
  CHECK(type_of(f.host.call("notes.wipe")) == "OperationBlocked");
  CHECK(f.last("outcome") == "OperationBlocked");
  CHECK(type_of(f.host.call("notes.nothing")) == "InvalidInput");
  CHECK(f.last("capability") == "notes.nothing");
  CHECK(type_of(f.host.call("proxy.list_writes")) == "none");
  CHECK(f.last("capability") == "proxy.list_writes");
  CHECK(f.calls().size() == 4);
}

TEST_CASE("what an agent notes is audited by its size, and not by what it says") {
  Audited f;
  CHECK(type_of(f.host.call("state.shared.set", R"({"key":"plan","value":"a secret word"})")) == "none");
  CHECK(f.last("capability") == "state.shared.set");
  CHECK_THAT(f.last("parameters"), Catch::Contains(R"("value":{"type":"text","bytes":13})"));
  CHECK(f.calls()[0].body.find("secret") == std::string::npos);
  for (const char* value : {"null", "1", "true", "[1]", "{}"})
    CHECK(type_of(f.host.call("state.persistent.set", R"({"key":"k","value":)" + std::string(value) + "}")) == "none");
  CHECK(type_of(f.host.call("state.shared.set", R"({"key":"plan","value":1})")) == "VersionConflict");
  CHECK(f.last("outcome") == "VersionConflict");
  CHECK(f.calls().size() == 7);
}

TEST_CASE("a call that admits a write stands with the write, and one that finds it there has a row") {
  Audited f;
  CHECK(text_of(f.host.call("notes.add", R"({"title":"t"})"), "status") == "buffered");
  CHECK(f.calls().empty());
  const auto again = f.host.call("notes.add", R"({"title":"t"})");
  REQUIRE(f.calls().size() == 1);
  CHECK(f.calls()[0].write_id == text_of(again, "duplicate_of"));
  CHECK(f.last("outcome") == "ok");
}

TEST_CASE("while the audit log cannot be written writes are refused, and reads as it is configured") {
  for (const bool stops_reads : {false, true}) {
    support::FaultVfs vfs;
    Audited f(stops_reads);
    vfs.fail_writes(SQLITE_FULL, 0, "audit.db-wal");
    f.host.call("notes.search");
    CHECK_FALSE(f.log.flush());
    CHECK(type_of(f.host.call("notes.add", R"({"title":"t"})")) == "ServiceUnavailable");
    CHECK(type_of(f.host.call("notes.search")) == (stops_reads ? "ServiceUnavailable" : "none"));
    // What the host answers of its own, and what stops something, goes on.
    CHECK(type_of(f.host.call("proxy.list_writes")) == "none");
    CHECK(type_of(f.host.call("proxy.cancel_write", R"({"write_id":"w_none"})")) == "InvalidInput");
    CHECK(type_of(f.host.call("proxy.rollback", R"({"write_id":"w_none"})")) == "ServiceUnavailable");
    CHECK(type_of(f.host.call("proxy.edit_write", R"({"write_id":"w_none","arguments":{}})")) == "ServiceUnavailable");
    for (const char* capability : {"state.session.set", "state.persistent.set", "state.shared.set"})
      CHECK(type_of(f.host.call(capability, R"({"key":"k","value":1})")) == "ServiceUnavailable");
    for (const char* capability : {"state.session.get", "state.persistent.get", "state.shared.get"})
      CHECK(type_of(f.host.call(capability, R"({"key":"k"})")) == (stops_reads ? "ServiceUnavailable" : "none"));
    CHECK(type_of(f.host.call("state.shared.list")) == (stops_reads ? "ServiceUnavailable" : "none"));
    CHECK(type_of(f.host.call("state.briefing.generate")) == "none");
    vfs.heal();
    CHECK(f.log.flush());
    CHECK(text_of(f.host.call("notes.add", R"({"title":"t"})"), "status") == "buffered");
    CHECK(f.calls().size() == 15);
  }
}

}  // namespace KRUXOS_TEST_FILE
