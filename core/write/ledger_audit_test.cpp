#include "core/write/ledger_audit.hpp"

#include <catch2/catch.hpp>

#include "core/audit/outbox.hpp"
#include "core/util/json.hpp"
#include "core/write/copies.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

namespace {

struct Audited : LedgerFixture {
  /// What the audit log would be told next.
  std::vector<SourcedEntry> news() {
    auto found = store.run([this](SQLite::Database& db) {
      StatementCache sql(db.getHandle());
      return read_outbox(sql, seen_, 1000);
    });
    if (!found.empty()) seen_ = found.back().source;
    return found;
  }
  std::vector<std::string> kinds() {
    std::vector<std::string> all;
    for (const auto& entry : news()) all.push_back(entry.kind);
    return all;
  }

 private:
  std::int64_t seen_ = 0;
};

using Texts = std::vector<std::string>;

std::string member(const SourcedEntry& entry, const char* name) {
  const auto body = parse_json(entry.body, "body");
  const auto* value = find_member(body, name);
  return !value ? "none" : value->IsString() ? std::string(view(*value)) : to_json(*value);
}

}  // namespace

TEST_CASE("an admission is audited with what was decided about it") {
  Audited f;
  auto asked = new_write("hello");
  asked.session_id = "sess_1";
  asked.audited = {R"({"tier":"notify"})", R"({"text":{"type":"text","bytes":5}})", {}};
  const auto write = f.submit(asked).write;
  const auto news = f.news();
  REQUIRE(news.size() == 1);
  const auto& entry = news.front();
  CHECK(entry.kind == "write.submitted");
  CHECK(entry.write_id == write.write_id);
  CHECK(entry.agent_id == write.agent_id);
  CHECK(entry.service == kAccount.service);
  CHECK(entry.account_id == kAccount.account_id);
  CHECK(entry.at_ms == f.clock.wall_ms());
  CHECK(member(entry, "operation") == write.operation);
  CHECK(member(entry, "state") == "buffered");
  CHECK(member(entry, "content_hash") == write.content_hash);
  CHECK(member(entry, "session_id") == "sess_1");
  CHECK(member(entry, "decision") == R"({"tier":"notify"})");
  CHECK(member(entry, "parameters") == R"({"text":{"type":"text","bytes":5}})");
  CHECK(entry.body.find("hello") == std::string::npos);
  // What is asked for once more changes nothing.
  CHECK(f.submit(asked).duplicate);
  CHECK(f.news().empty());
}

TEST_CASE("a write that a limit puts before a person is audited with the limit") {
  Audited f;
  auto asked = new_write("one");
  LimitRule limit{{{asked.operation}, 1, 60'000, {}}, {}, true, {RuleLayer::kSystem, "rules.yaml", 7, "slowly", {}}};
  asked.limits = {limit};
  f.submit(asked);
  f.news();
  auto second = new_write("two");
  second.limits = {limit};
  CHECK(f.submit(second).write.state == WriteState::kPendingApproval);
  const auto news = f.news();
  REQUIRE(news.size() == 1);
  CHECK(member(news[0], "state") == "pending_approval");
  CHECK(
      member(news[0], "limit") ==
      R"({"limit":1,"window_ms":60000,"counted":1,"decided_by":{"rule":"slowly","layer":"system","file":"rules.yaml","line":7}})");
  CHECK(member(news[0], "asks").starts_with("The limit of 1 in 1 min"));
  auto third = new_write("three");
  third.limits = {{{{asked.operation}, 1, 60'000, {}}, {}, true, {}, "1.2", asked.operation}};
  f.submit(third);
  CHECK_THAT(member(f.news().at(0), "limit"),
             Catch::Contains(R"("decided_by":{"definition":"1.2","capability":"notes.add"}})"));
}

TEST_CASE("each change of a write's state is audited, with who made it") {
  Audited f;
  auto asked = new_write("hello");
  asked.approval_reason = "A person is asked.";
  const auto write = f.submit(asked).write;
  f.news();
  Answer<WriteRecord> accepted;
  f.ledger->accept(write.write_id, write.content_hash, "operator:ann", accepted.slot());
  accepted.value();
  auto news = f.news();
  REQUIRE(news.size() == 1);
  CHECK(news[0].kind == "write.accept");
  CHECK(member(news[0], "from") == "pending_approval");
  CHECK(member(news[0], "to") == "buffered");
  CHECK(member(news[0], "who") == "operator:ann");
  CHECK(member(news[0], "content_hash") == write.content_hash);
  f.clock.advance(60'000);
  const auto taken = f.ledger->take(f.accounts, {10, 10}, {}).writes;
  REQUIRE(taken.size() == 1);
  f.record(taken[0], WriteEvent::kDone);
  news = f.news();
  REQUIRE(news.size() == 2);
  CHECK(news[0].kind == "write.claim");
  CHECK(member(news[0], "who") == "host");
  CHECK(member(news[0], "attempt") == "1");
  CHECK(news[1].kind == "write.done");
  CHECK(member(news[1], "to") == "completed");
}

TEST_CASE("an edit is audited with both contents' hashes and the decision about it") {
  Audited f;
  auto asked = new_write("hello");
  asked.approval_reason = "A person is asked.";
  const auto write = f.submit(asked).write;
  f.news();
  NewContent content;
  content.params_json = R"({"text":"changed"})";
  content.summary = "changed";
  content.tier = "notify";
  content.audited.decision_json = R"({"tier":"notify"})";
  Answer<WriteRecord> edited;
  f.ledger->edit(write.write_id, write.agent_id, write.content_hash, content, "agent:" + write.agent_id, edited.slot());
  const auto after = edited.value();
  const auto news = f.news();
  REQUIRE_FALSE(news.empty());
  CHECK(news[0].kind == "write.edit");
  CHECK(member(news[0], "edited_from") == write.content_hash);
  CHECK(member(news[0], "content_hash") == after.content_hash);
  CHECK(member(news[0], "decision") == R"({"tier":"notify"})");
  CHECK(member(news[0], "who") == "agent:" + write.agent_id);
}

TEST_CASE("what the policy of now stops is audited with why, by which rule") {
  Audited f;
  f.ledger->ask_terms([](const WriteRecord&) {
    PresentTerms terms;
    terms.forbids = "It is blocked by now.";
    terms.decision_json = R"({"decided_by":{"rule":"never","file":"rules.yaml","line":3}})";
    return terms;
  });
  f.submit(new_write("hello"));
  f.news();
  f.clock.advance(60'000);
  CHECK(f.ledger->take(f.accounts, {10, 10}, {}).stopped.size() == 1);
  const auto news = f.news();
  REQUIRE(news.size() == 1);
  CHECK(news[0].kind == "write.forbid");
  CHECK(member(news[0], "reason") == "It is blocked by now.");
  CHECK(member(news[0], "decision") == R"({"decided_by":{"rule":"never","file":"rules.yaml","line":3}})");
}

TEST_CASE("a change that is refused is not audited, and one that is undone with its commit neither") {
  Audited f;
  const auto write = f.submit(new_write("hello")).write;
  f.news();
  CHECK(std::holds_alternative<Error>(f.cancel(write.write_id, "agent_9")));
  CHECK(f.news().empty());
  CHECK(std::holds_alternative<WriteRecord>(f.cancel(write.write_id, write.agent_id)));
  CHECK(f.kinds() == Texts{"write.cancel"});
}

TEST_CASE("writes that are held as a copy are audited one by one") {
  Audited f;
  f.submit(new_write("one"));
  f.submit(new_write("two"));
  f.news();
  f.store.run([&](SQLite::Database& db) {
    StatementCache sql(db.getHandle());
    hold_copies(sql, {"It was restored.", "boot-1", {}}, f.clock);
  });
  const auto news = f.news();
  REQUIRE(news.size() == 2);
  CHECK(news[0].kind == "write.held_as_copy");
  CHECK(member(news[0], "reason") == "It was restored.");
  CHECK(news[0].source + 1 == news[1].source);
  CHECK(news[0].write_id != news[1].write_id);
}

}  // namespace KRUXOS_TEST_FILE
