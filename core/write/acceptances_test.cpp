// Writes that several operators must accept.
#include "core/write/acceptances.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using State = WriteState;

namespace {

constexpr std::int64_t kDelay = 30'000;

NewContent content(const std::string& text) {
  NewContent content;
  static_cast<WriteContent&>(content) = static_cast<const WriteContent&>(new_write(text));
  return content;
}

struct SeveralFixture : LedgerFixture {
  PresentTerms now;  ///< the policy

  SeveralFixture() {
    for (const auto* name : {"ann", "bob", "cleo"}) add_operator(name);
    ask_terms();
  }
  void ask_terms() {
    ledger->ask_terms([this](const WriteRecord&) { return now; });
  }
  void run(const std::string& sql) {
    store.run([&](SQLite::Database& db) { db.exec(sql); });
  }
  void add_operator(const std::string& name, const std::string& id = {}) {
    run("INSERT INTO operators (operator_id, name, verifier, set_at_ms, added_at_ms, added_by) VALUES ('op_" +
        (id.empty() ? name : id) + "', '" + name + "', 'v', 1, 1, '')");
  }
  void remove_operator(const std::string& name) { run("DELETE FROM operators WHERE name = '" + name + "'"); }
  static DecidingOperator known(const std::string& name) { return {operator_who(name), "op_" + name}; }

  WriteRecord ask(const std::string& text = "a", std::int64_t needed = 2, std::int64_t for_ms = 0) {
    auto wanted = new_write(text);
    wanted.approval_reason = "It is for two.";
    wanted.approvals_needed = needed;
    wanted.approval_ms = for_ms;
    return submit(wanted).write;
  }
  std::variant<WriteRecord, Error> accept_as(const WriteRecord& write, const DecidingOperator& by,
                                             std::optional<Ledger::Like> like = {}) {
    return LedgerFixture::ask<WriteRecord>(
        [&](auto done) { ledger->accept(write.write_id, write.content_hash, by, std::move(done), std::move(like)); });
  }
  State accepted(const WriteRecord& write, const std::string& name) {
    return std::get<WriteRecord>(accept_as(write, known(name))).state;
  }
  Error refusal(const WriteRecord& write, const DecidingOperator& by) { return std::get<Error>(accept_as(write, by)); }
  WriteRecord edited(const WriteRecord& write, NewContent to, const DecidingOperator& by,
                     const std::string& agent = {}) {
    return std::get<WriteRecord>(LedgerFixture::ask<WriteRecord>([&](auto done) {
      ledger->edit(write.write_id, agent, write.content_hash, std::move(to), by, std::move(done));
    }));
  }
  WriteRecord of(const WriteRecord& write) { return *ledger->get(write.write_id); }
  std::string given(const WriteRecord& write) {
    std::string names;
    for (const auto& one : ledger->acceptances(of(write))) names += (names.empty() ? "" : " ") + one.who.substr(9);
    return names;
  }
  std::string outcomes(const WriteRecord& write) {
    std::string all;
    for (const auto& record : ledger->history(write.write_id)) all += (all.empty() ? "" : " ") + record.outcome;
    return all;
  }
  std::int64_t audited(const std::string& kind) {
    return store.run([&](SQLite::Database& db) {
      Statement row(db.getHandle(), "SELECT count(*) FROM audit_outbox WHERE kind = ?1");
      row.bind_all(kind);
      row.step();
      return row.integer(0);
    });
  }
};

}  // namespace

TEST_CASE("a write for two goes out once two different operators have accepted it, over a restart in between") {
  SeveralFixture f;
  const auto write = f.ask();
  CHECK(write.approvals_needed == 2);
  CHECK(f.accepted(write, "ann") == State::kPendingApproval);
  CHECK(f.given(write) == "ann");
  CHECK(f.ledger->acceptances(write).front().accepted_at_ms == f.clock.wall_ms());
  f.clock.advance(1000);
  f.restart();
  f.ask_terms();
  CHECK(f.of(write).state == State::kPendingApproval);
  CHECK(f.given(write) == "ann");
  CHECK(f.accepted(write, "bob") == State::kBuffered);
  CHECK(f.given(write) == "ann bob");
  CHECK(f.of(write).decided_by == "operator:bob");
  CHECK(f.outcomes(write) == "accepted_by_one accept");
  CHECK(f.audited("write.accepted_by_one") == 1);
  CHECK(f.audited("write.accept") == 1);
  f.now = {{}, "It is for two.", {}};
  f.now.approvals_needed = 2;
  f.clock.advance(kDelay);
  CHECK(f.take().size() == 1);
}

TEST_CASE("the same operator again is told so, and nothing changes") {
  SeveralFixture f;
  const auto write = f.ask("a", 3);
  f.accepted(write, "ann");
  f.clock.advance(5000);
  const auto again = f.refusal(write, f.known("ann"));
  CHECK(again.type() == ErrorCode::kConflictError);
  CHECK_THAT(again.what(), Catch::Contains("operator:ann") && Catch::Contains("accepted it already") &&
                               Catch::Contains("2 more people are needed"));
  CHECK(f.ledger->acceptances(write).front().accepted_at_ms == f.clock.wall_ms() - 5000);
  CHECK(f.outcomes(write) == "accepted_by_one");
  CHECK(f.accepted(write, "bob") == State::kPendingApproval);
  CHECK(f.refusal(write, f.known("bob")).type() == ErrorCode::kConflictError);
  CHECK(f.accepted(write, "cleo") == State::kBuffered);
  CHECK(f.refusal(write, f.known("cleo")).type() == ErrorCode::kConflictError);
}

TEST_CASE("an operator who has shown no passphrase is not one of several") {
  SeveralFixture f;
  const auto write = f.ask();
  const auto refused = f.refusal(write, "operator:ann");
  CHECK(refused.type() == ErrorCode::kNotAuthenticated);
  CHECK_THAT(refused.what(), Catch::Contains("told apart by their passphrases"));
  CHECK_THAT(refused.context_json(), Catch::Contains(R"("needs":"grant")"));
  CHECK(std::holds_alternative<Error>(f.edit(write, content("b"))));
  CHECK(f.of(write).content_hash == write.content_hash);
  // What one person accepts is accepted as before.
  const auto alone = f.ask("c", 0);
  CHECK(std::get<WriteRecord>(f.accept(alone)).state == State::kBuffered);
  // To reject needs nobody else, and ends it.
  CHECK(f.accepted(write, "ann") == State::kPendingApproval);
  CHECK(std::get<WriteRecord>(f.reject(write)).state == State::kRejected);
  CHECK(f.refusal(write, f.known("bob")).type() == ErrorCode::kConflictError);
}

TEST_CASE("another content makes void what was accepted, also where it is edited back") {
  SeveralFixture f;
  const auto write = f.ask();
  f.accepted(write, "ann");
  const bool by_agent = GENERATE(true, false);
  const auto who = by_agent ? DecidingOperator("agent:agent_1") : f.known("cleo");
  const auto other = f.edited(write, content("b"), who, by_agent ? "agent_1" : "");
  CHECK(other.state == State::kPendingApproval);
  CHECK(other.approvals_needed == 2);
  CHECK(f.given(write).empty());
  CHECK(f.refusal(write, f.known("bob")).type() == ErrorCode::kConflictError);  // he was shown the first content
  const auto back = f.edited(other, content("a"), who, by_agent ? "agent_1" : "");
  CHECK(back.content_hash == write.content_hash);
  CHECK(f.given(write).empty());
  CHECK(f.accepted(back, "bob") == State::kPendingApproval);
  CHECK(f.accepted(back, "ann") == State::kBuffered);
  CHECK_THAT(f.outcomes(write), Catch::Contains("acceptances_void"));
  CHECK(f.audited("write.acceptances_void") == 1);
  bool named = false;
  for (const auto& record : f.ledger->history(write.write_id))
    named = named || record.message.find("operator:ann") != std::string::npos;
  CHECK(named);
}

TEST_CASE("an operator's edit of what two had let go is his own acceptance of the new content") {
  SeveralFixture f;
  const auto write = f.ask();
  f.accepted(write, "ann");
  REQUIRE(f.accepted(write, "bob") == State::kBuffered);
  const auto edited = f.edited(f.of(write), content("b"), f.known("cleo"));
  CHECK(edited.state == State::kPendingApproval);
  CHECK(f.given(write) == "cleo");
  CHECK(f.refusal(edited, f.known("cleo")).type() == ErrorCode::kConflictError);
  CHECK(f.accepted(edited, "ann") == State::kBuffered);
  f.clock.advance(kDelay);
  REQUIRE(f.take().size() == 1);
}

TEST_CASE("an edit that falls under a rule for two waits for two, and its agent's does too") {
  SeveralFixture f;
  const auto write = f.submit(new_write("a")).write;
  REQUIRE(write.state == State::kBuffered);
  auto strict = content("b");
  strict.approval_reason = "The rule wants two.";
  strict.approvals_needed = 2;
  const auto edited = f.edited(write, strict, f.known("ann"));
  CHECK(edited.state == State::kPendingApproval);
  CHECK(edited.approval_reason == "The rule wants two.");
  CHECK(f.given(edited) == "ann");
  // What several were asked about stays so, though the new content would need nobody.
  const auto loose = f.edited(edited, content("c"), "agent:agent_1", "agent_1");
  CHECK(loose.approvals_needed == 2);
  CHECK(loose.state == State::kPendingApproval);
  CHECK(f.given(loose).empty());
}

TEST_CASE("whoever was removed meanwhile does not count, nor does one who bears his name afterwards") {
  SeveralFixture f;
  const auto write = f.ask();
  f.accepted(write, "ann");
  f.remove_operator("ann");
  CHECK(f.given(write).empty());
  const auto refused = f.refusal(write, f.known("ann"));
  CHECK(refused.type() == ErrorCode::kNotAuthenticated);
  f.add_operator("ann", "another");
  CHECK(f.given(write).empty());
  CHECK(f.accepted(write, "bob") == State::kPendingApproval);
  CHECK(f.accepted(write, "cleo") == State::kBuffered);
  // In its window as well.
  f.remove_operator("cleo");
  f.clock.advance(kDelay);
  CHECK(f.take().empty());
  CHECK(f.of(write).state == State::kPendingApproval);
  CHECK(f.given(write) == "bob");
  CHECK(f.refusal(write, f.known("bob")).type() == ErrorCode::kConflictError);
  CHECK(std::get<WriteRecord>(f.accept_as(write, {"operator:ann", "op_another"})).state == State::kBuffered);
  f.clock.advance(kDelay);
  CHECK(f.take().size() == 1);
}

TEST_CASE("when it is due the stricter number counts, and who has accepted it need not again") {
  SeveralFixture f;
  const auto let_go = f.ask("a", 0);
  REQUIRE(f.accepted(let_go, "ann") == State::kBuffered);
  const auto unasked = f.submit(new_write("b")).write;
  f.now.asks = "The rule wants two by now.";
  f.now.asked_by_json = R"({"rule":"two"})";
  f.now.approvals_needed = 2;
  f.clock.advance(kDelay);
  CHECK(f.take().empty());
  for (const auto& write : {let_go, unasked}) {
    CHECK(f.of(write).state == State::kPendingApproval);
    CHECK(f.of(write).approvals_needed == 2);
    CHECK(f.of(write).approval_reason == f.now.asks);
    CHECK(f.of(write).asked_by_json == f.now.asked_by_json);
  }
  CHECK(f.given(let_go) == "ann");
  CHECK(f.accepted(let_go, "bob") == State::kBuffered);
  CHECK(f.accepted(unasked, "bob") == State::kPendingApproval);
  f.clock.advance(kDelay);
  CHECK(f.take().size() == 1);
  // Of what was accepted by fewer than it wanted a looser rule makes nothing else.
  f.now = {};
  CHECK(f.of(unasked).state == State::kPendingApproval);
  CHECK(f.accepted(unasked, "cleo") == State::kBuffered);
}

TEST_CASE("an acceptance at the socket does not count where two are wanted by now") {
  SeveralFixture f;
  const auto write = f.ask("a", 0);
  REQUIRE(std::get<WriteRecord>(f.accept(write)).state == State::kBuffered);
  f.now.asks = "The rule wants two by now.";
  f.now.approvals_needed = 2;
  f.clock.advance(kDelay);
  CHECK(f.take().empty());
  CHECK(f.given(write).empty());
  CHECK(f.accepted(write, "ann") == State::kPendingApproval);
}

TEST_CASE("what two have accepted may be sent again by one, as long as both count") {
  SeveralFixture f;
  const auto write = f.ask();
  f.accepted(write, "ann");
  f.accepted(write, "bob");
  f.clock.advance(kDelay);
  REQUIRE(f.take().size() == 1);
  f.record(f.of(write), WriteEvent::kScheduleUsedUp);
  REQUIRE(f.of(write).state == State::kDeadLetter);
  REQUIRE(std::holds_alternative<WriteRecord>(f.resolve(write.write_id, WriteEvent::kOperatorResend)));
  REQUIRE(f.take().size() == 1);
  f.record(f.of(write), WriteEvent::kScheduleUsedUp);
  f.remove_operator("bob");
  REQUIRE(std::holds_alternative<WriteRecord>(f.resolve(write.write_id, WriteEvent::kOperatorResend)));
  CHECK(f.take().empty());
  CHECK(f.of(write).state == State::kPendingApproval);
}

TEST_CASE("nothing is approved beforehand of what several must accept") {
  SeveralFixture f;
  const auto write = f.ask();
  const Ledger::Like like{{"agent_1", kAccount, "notes.add", {"n1"}, {"rule"}}, {3'600'000, 20}};
  CHECK(std::get<Error>(f.accept_as(write, f.known("ann"), like)).type() == ErrorCode::kConflictError);
  CHECK(f.given(write).empty());
  // Nor does one that is there answer for it.
  const auto alone = f.ask("b", 0);
  REQUIRE(std::holds_alternative<WriteRecord>(f.accept_as(alone, f.known("ann"), like)));
  StandingApprovals standing(f.store, f.clock);
  const auto all = standing.list();
  REQUIRE(all.size() == 1);
  auto covered = new_write("c");
  covered.approval_reason = "It is for two.";
  covered.approvals_needed = 2;
  covered.by_standing = all.front().standing_id;
  CHECK(f.submit(covered).write.state == State::kPendingApproval);
  covered.params_json = new_write("d").params_json;
  covered.approvals_needed = 0;
  const auto let_go = f.submit(covered).write;
  CHECK(let_go.state == State::kBuffered);
  f.now.asks = "The rule wants two by now.";
  f.now.approvals_needed = 2;
  f.clock.advance(kDelay);
  f.take();
  CHECK(f.of(let_go).state == State::kPendingApproval);
}

TEST_CASE("it expires as others do, whoever has accepted it") {
  SeveralFixture f;
  const auto write = f.ask("a", 2, 60'000);
  f.accepted(write, "ann");
  f.clock.advance(60'000);
  CHECK(f.refusal(write, f.known("bob")).type() == ErrorCode::kConflictError);
  CHECK(f.ledger->expire_approvals() == 1);
  CHECK(f.of(write).state == State::kRejected);
}

TEST_CASE("who has accepted it is said in words") {
  CHECK(acceptances_in_words(1, {"operator:ann"}).empty());
  CHECK(acceptances_in_words(2, {}) == "2 people must accept it, and nobody has yet.");
  CHECK(acceptances_in_words(2, {"operator:ann"}) == "Accepted by ann; one more person is needed.");
  CHECK(acceptances_in_words(4, {"operator:ann", "operator:bob"}) == "Accepted by ann, bob; 2 more people are needed.");
  CHECK(acceptances_in_words(2, {"operator:ann", "operator:bob"}) == "Accepted by ann, bob.");
  CHECK(acceptances_in_short(2, 1) == "1 of 2");
  CHECK(acceptances_in_short(0, 0).empty());
}

}  // namespace KRUXOS_TEST_FILE
