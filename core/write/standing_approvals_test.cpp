// What a person has approved beforehand, in the ledger.
#include <catch2/catch.hpp>

#include "core/util/durations.hpp"
#include "core/write/copies_test_fixture.hpp"
#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

namespace {

const std::string kWhy = "Each one is asked about.";

NewWrite asked(const std::string& text) {
  auto write = immediate(text);
  write.approval_reason = kWhy;
  return write;
}

struct Standing : LedgerFixture {
  StandingApprovals standing{store, clock};

  /// The id of one that stands from the acceptance of a write on.
  std::string given(StandingTerms terms = {kHour, 2}) {
    const auto write = submit(asked("first")).write;
    const Ledger::Like like{{write.agent_id, write.account, write.operation, {"#general"}, {"tier"}}, terms};
    const auto answer = ask<WriteRecord>(
        [&](auto done) { ledger->accept(write.write_id, write.content_hash, "operator:ann", std::move(done), like); });
    REQUIRE(std::holds_alternative<WriteRecord>(answer));
    take();
    const auto all = standing.list();
    REQUIRE(all.size() == 1);
    CHECK(all[0].write_id == write.write_id);
    return all[0].standing_id;
  }
  WriteRecord submit_by(const std::string& standing_id, const std::string& text) {
    auto write = asked(text);
    write.by_standing = standing_id;
    return submit(write).write;
  }
};

}  // namespace

TEST_CASE("what is approved beforehand goes out unasked, as often as was said, and says by what") {
  Standing f;
  const auto id = f.given();
  const auto first = f.submit_by(id, "a"), second = f.submit_by(id, "b"), third = f.submit_by(id, "c");
  CHECK(first.state == WriteState::kBuffered);
  CHECK(first.decided_by == "operator:ann");
  CHECK(second.state == WriteState::kBuffered);
  CHECK(third.state == WriteState::kPendingApproval);
  CHECK(third.standing_approval.empty());
  CHECK(f.ledger->get(first.write_id)->standing_approval == id);
  const auto history = f.ledger->history(first.write_id);
  REQUIRE(history.size() == 1);
  CHECK(history[0].who == id);
  CHECK(f.standing.list().empty());  // it is used up
  f.ledger->ask_terms([](const WriteRecord&) { return PresentTerms{{}, kWhy, {}}; });
  CHECK(f.take().size() == 2);
}

TEST_CASE("a standing approval ends with its time, over a restart too") {
  Standing f;
  const auto id = f.given();
  f.restart();
  CHECK(f.submit_by(id, "a").state == WriteState::kBuffered);
  f.clock.advance(kHour);
  CHECK(f.submit_by(id, "b").state == WriteState::kPendingApproval);
  CHECK(f.standing.list().empty());
}

TEST_CASE("what an ended one has let through waits for a person, until he accepts that") {
  Standing f;
  const auto id = f.given();
  const auto write = f.submit_by(id, "a");
  CHECK(f.standing.end(id, "operator:bob"));
  CHECK_FALSE(f.standing.end(id, "operator:bob"));
  CHECK_FALSE(f.standing.end("sa_none", "operator:bob"));
  f.ledger->ask_terms([](const WriteRecord&) { return PresentTerms{{}, kWhy, {}}; });
  CHECK(f.take().empty());
  const auto waits = *f.ledger->get(write.write_id);
  CHECK(waits.state == WriteState::kPendingApproval);
  REQUIRE(std::holds_alternative<WriteRecord>(f.accept(waits)));
  CHECK(f.ledger->get(write.write_id)->standing_approval.empty());
  CHECK(f.take().size() == 1);
}

TEST_CASE("one that was used up or is over can be ended for what it has let through") {
  Standing f;
  const auto id = f.given({kHour, 1});
  f.submit_by(id, "a");
  f.clock.advance(2 * kHour);
  CHECK(f.standing.end(id, "operator:bob"));
  f.ledger->ask_terms([](const WriteRecord&) { return PresentTerms{{}, kWhy, {}}; });
  CHECK(f.take().empty());
}

TEST_CASE("a limit, another reason by the claim, and an edit by its agent ask all the same") {
  Standing f;
  const auto id = f.given({kHour, 10});
  const auto limited = [&](const char* text) {
    auto write = asked(text);
    write.by_standing = id;
    write.limits = {{Limit{{write.operation}, 1, kHour, ""}, "", true}};
    return f.submit(write).write.state;
  };
  CHECK(limited("a") == WriteState::kBuffered);
  CHECK(limited("another") == WriteState::kPendingApproval);
  const auto edited = f.submit_by(id, "b");
  NewContent content;
  static_cast<WriteContent&>(content) = static_cast<const WriteContent&>(asked("c"));
  REQUIRE(std::holds_alternative<WriteRecord>(f.edit(edited, content, edited.agent_id)));
  CHECK(f.ledger->get(edited.write_id)->state == WriteState::kPendingApproval);
  CHECK(f.ledger->get(edited.write_id)->standing_approval.empty());
  CHECK(f.take().size() == 1);
  const auto other = f.submit_by(id, "d");
  f.ledger->ask_terms([](const WriteRecord&) { return PresentTerms{{}, "Something else.", {}}; });
  CHECK(f.take().empty());
  CHECK(f.ledger->get(other.write_id)->state == WriteState::kPendingApproval);
}

TEST_CASE("whom a standing approval covers") {
  const StandingScope scope{"agent_1", kAccount, "notes.add", {"amy@x.example", "bob@x.example"}, {"rule a", "tier"}};
  auto write = scope;
  CHECK(scope.covers(write));
  write.reaches = {"bob@x.example"};
  write.asked_by = {"tier"};
  CHECK(scope.covers(write));
  auto other = write;
  other.reaches = {"bob@x.example", "eve@x.example"};
  CHECK_FALSE(scope.covers(other));
  other = write;
  other.asked_by = {"rule b", "tier"};
  CHECK_FALSE(scope.covers(other));
  other = write;
  other.agent_id = "agent_2";
  CHECK_FALSE(scope.covers(other));
  other = write;
  other.operation = "notes.mark";
  CHECK_FALSE(scope.covers(other));
  other = write;
  ++other.account.generation;
  CHECK_FALSE(scope.covers(other));
}

TEST_CASE("what stands approved is bounded") {
  for (const auto& terms : {StandingTerms{0, 1}, {kDay + 1, 1}, {kHour, 0}, {kHour, 1001}})
    CHECK_THROWS_AS(terms.must_be_bounded(), Error);
  StandingTerms{kDay, 1000}.must_be_bounded();
  LedgerFixture f;
  const auto grant = [&] {
    f.store.run([&](SQLite::Database& db) {
      StatementCache sql(db.getHandle());
      grant_standing(sql, {"agent_1", kAccount, "notes.add", {"x"}, {"tier"}}, {kHour, 1}, "w_1", "operator:ann",
                     f.clock.wall_ms());
    });
  };
  for (std::int64_t i = 0; i < StandingApprovals::kMostInForce; ++i) grant();
  CHECK_THROWS_AS(grant(), Error);
  f.clock.advance(kHour);
  CHECK_NOTHROW(grant());
}

TEST_CASE("in what may be a copy nothing stands approved") {
  Standing f;
  const auto id = f.given();
  hold_all(f.store, f.clock);
  CHECK(f.standing.list().empty());
  CHECK(f.submit_by(id, "a").state == WriteState::kPendingApproval);
}

}  // namespace KRUXOS_TEST_FILE
