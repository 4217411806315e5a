#include "core/audit/query.hpp"

#include "core/audit/audit_fixture.hpp"
#include "core/audit/chain.hpp"
#include "core/util/json_out.hpp"

namespace KRUXOS_TEST_FILE {

using namespace audit_test;

namespace {

struct Rows : LogFixture {
  Rows() {
    for (int i = 0; i < 6; ++i) {
      auto entry = entry_of(i % 2 ? "write.claim" : "write.done", clock.wall_ms());
      entry.agent_id = i < 3 ? "agent_1" : "agent_2";
      entry.write_id = "w_" + std::to_string(i);
      entry.body = R"({"text":"it's \"so\""})";
      log->add(entry);
      clock.advance(1000);
    }
    log->flush();
  }
  Texts ids(const AuditFilter& filter) const {
    Texts all;
    for (const auto& row : find_audit_rows(file(), filter)) all.push_back(row.write_id);
    return all;
  }
};

}  // namespace

TEST_CASE("rows of the audit log are found by whom, what and when") {
  Rows f;
  AuditFilter filter;
  filter.kind = "write";
  CHECK(f.ids(filter) == Texts{"w_5", "w_4", "w_3", "w_2", "w_1", "w_0"});
  filter.kind = "write.claim";
  CHECK(f.ids(filter) == Texts{"w_5", "w_3", "w_1"});
  filter.agent_id = "agent_1";
  CHECK(f.ids(filter) == Texts{"w_1"});
  filter = {};
  filter.write_id = "w_4";
  CHECK(f.ids(filter) == Texts{"w_4"});
  filter = {};
  filter.kind = "wri";
  CHECK(f.ids(filter).empty());
  filter = {};
  filter.service = "notes";
  CHECK(f.ids(filter).empty());
}

TEST_CASE("rows of the audit log come in pages, and within times") {
  Rows f;
  const auto begin = DrivenClock().wall_ms();
  AuditFilter filter;
  filter.limit = 2;
  const auto page = find_audit_rows(f.file(), filter);
  REQUIRE(page.size() == 2);
  filter.before_seq = page.back().seq;
  CHECK(f.ids(filter) == Texts{"w_3", "w_2"});
  filter = {};
  filter.since_ms = begin + 1000;
  filter.until_ms = begin + 3000;
  CHECK(f.ids(filter) == Texts{"w_2", "w_1"});
}

TEST_CASE("an exported row is one whose hash can be checked") {
  Rows f;
  const auto row = audit_rows_after(f.file(), 1, 1).front();
  const auto json = parse_json(json_object([&](JsonWriter& out) { put_exported_row(out, row); }), "row");
  CHECK(find_string(json, "body") == row.body);
  auto again = row;
  again.body = *find_string(json, "body");
  CHECK(hash_hex(chain_hash(*hash_of_hex(*find_string(json, "prev")), view_of(again))) == find_string(json, "hash"));
  const auto shown = parse_json(json_object([&](JsonWriter& out) { put_audit_row(out, row); }), "row");
  CHECK(find_string(*find_member(shown, "body"), "text") == "it's \"so\"");
}

}  // namespace KRUXOS_TEST_FILE
