#include <catch2/catch.hpp>

#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;
using Fixture = LedgerFixture;
using State = WriteState;

namespace {

NewContent content(const std::string& text) {
  NewContent c;
  c.params_json = R"({"text":")" + text + "\"}";
  c.params_shown_json = c.params_json;
  c.summary = text;
  c.tier = "notify";
  c.definition_version = "2";
  return c;
}

NewWrite to_be_approved(const std::string& text) {
  auto w = new_write(text);
  w.approval_reason = "It is asked for.";
  return w;
}

std::string type_of(const std::variant<WriteRecord, Error>& answer) {
  return std::holds_alternative<Error>(answer) ? std::string(std::get<Error>(answer).type().name()) : "done";
}

}  // namespace

TEST_CASE("an edit replaces the content, keeps the write, and begins its window anew") {
  Fixture f;
  const auto write = f.submit(new_write("a")).write;
  f.clock.advance(20'000);
  const auto edited = std::get<WriteRecord>(f.edit(write, content("b"), "agent_1"));
  CHECK(edited.write_id == write.write_id);
  CHECK(edited.state == State::kBuffered);
  CHECK(edited.params_json == R"({"text":"b"})");
  CHECK(edited.content_hash == content_hash(kAccount, "notes.add", R"({"text":"b"})"));
  CHECK(edited.buffer_until_ms == f.clock.wall_ms() + 30'000);
  CHECK(edited.definition_version == "2");
  const auto stored = *f.ledger->get(write.write_id);
  CHECK(stored.summary == "b");
  CHECK(stored.content_hash == edited.content_hash);
  const auto edits = f.ledger->edits(write.write_id);
  REQUIRE(edits.size() == 1);
  CHECK(edits[0].who == "agent:agent_1");
  CHECK(edits[0].from_json == R"({"text":"a"})");
  CHECK(edits[0].to_hash == edited.content_hash);
  f.clock.advance(29'999);
  CHECK(f.take().empty());
  f.clock.advance(1);
  CHECK(f.take().at(0).params_json == R"({"text":"b"})");
}

TEST_CASE("an edit names the content that was seen") {
  Fixture f;
  const auto write = f.submit(new_write("a")).write;
  f.edit(write, content("b"));
  CHECK(type_of(f.edit(write, content("c"))) == "ConflictError");
  CHECK(f.ledger->get(write.write_id)->summary == "b");
  CHECK(f.ledger->edits(write.write_id).size() == 1);
}

TEST_CASE("what is no longer waiting, another's, or the same is not edited") {
  Fixture f;
  const auto write = f.submit(immediate("a")).write;
  CHECK(type_of(f.edit(write, content("a"))) == "InvalidInput");
  CHECK(type_of(f.edit(write, content("b"), "agent_2")) == "InvalidInput");
  f.take();
  CHECK(type_of(f.edit(write, content("b"))) == "ConflictError");
  CHECK(f.ledger->get(write.write_id)->summary == "a");
  CHECK(f.ledger->edits(write.write_id).empty());
}

TEST_CASE("an agent that repeats what an operator has edited is answered with that write") {
  Fixture f;
  auto asked = new_write("a");
  asked.idempotency_key = "k";
  const auto write = f.submit(asked).write;
  f.edit(write, content("b"));
  CHECK(f.submit(asked).write.write_id == write.write_id);
  asked.idempotency_key.clear();
  const auto again = f.submit(asked);
  CHECK(again.duplicate);
  CHECK(again.write.write_id == write.write_id);
  SECTION("but its own edit took its first wish back") {
    const auto second = f.submit(new_write("x")).write;
    f.edit(second, content("y"), "agent_1");
    CHECK_FALSE(f.submit(new_write("x")).duplicate);
  }
}

TEST_CASE("a write that needs approval waits for a person, who names what was shown") {
  Fixture f;
  const auto write = f.submit(to_be_approved("a")).write;
  CHECK(write.state == State::kPendingApproval);
  CHECK(write.due_at_ms == 0);
  f.clock.advance(1'000'000);
  CHECK(f.take().empty());
  const auto alerts = [&] { return AlertStore(f.store, f.clock).list(true); };
  REQUIRE(alerts().size() == 1);
  CHECK(alerts()[0].kind == "approval_waiting");
  SECTION("one alert stands until none waits any more") {
    const auto second = f.submit(to_be_approved("second")).write;
    CHECK(alerts().size() == 1);
    f.accept(write);
    CHECK(alerts().size() == 1);
    f.cancel(second.write_id, "agent_1");
    CHECK(alerts().empty());
  }
  SECTION("accepted: its window begins") {
    const auto accepted = std::get<WriteRecord>(f.accept(write));
    CHECK(accepted.state == State::kBuffered);
    CHECK(accepted.buffer_until_ms == f.clock.wall_ms() + 30'000);
    CHECK(f.ledger->history(write.write_id).back().who == "operator:ann");
    CHECK(type_of(f.accept(write)) == "ConflictError");
  }
  SECTION("rejected, with a reason") {
    const auto rejected = std::get<WriteRecord>(f.reject(write, "not today"));
    CHECK(rejected.state == State::kRejected);
    CHECK(rejected.error_type == ErrorCode::kApprovalRejected);
    CHECK(rejected.error_message == "A person rejected it: not today");
  }
  SECTION("edited by its agent meanwhile: the old consent does not count") {
    CHECK(std::get<WriteRecord>(f.edit(write, content("b"), "agent_1")).state == State::kPendingApproval);
    CHECK(type_of(f.accept(write)) == "ConflictError");
    CHECK(f.ledger->get(write.write_id)->state == State::kPendingApproval);
  }
  SECTION("accepted, then edited by its agent: a person is asked again") {
    const auto accepted = std::get<WriteRecord>(f.accept(write));
    const auto edited = std::get<WriteRecord>(f.edit(accepted, content("b"), "agent_1"));
    CHECK(edited.state == State::kPendingApproval);
    CHECK(edited.buffer_until_ms == 0);
    CHECK(f.take().empty());
  }
  SECTION("accepted, then edited by the operator: nobody is asked") {
    const auto accepted = std::get<WriteRecord>(f.accept(write));
    CHECK(std::get<WriteRecord>(f.edit(accepted, content("b"))).state == State::kBuffered);
  }
  SECTION("cancelled by its agent") {
    CHECK(std::get<WriteRecord>(f.cancel(write.write_id, "agent_1")).state == State::kCancelled);
  }
}

TEST_CASE("an edit survives a restart whole") {
  Fixture f;
  const auto write = f.submit(new_write("a")).write;
  f.edit(write, content("b"));
  f.restart();
  const auto after = *f.ledger->get(write.write_id);
  CHECK(after.summary == "b");
  CHECK(after.state == State::kBuffered);
  f.clock.advance(30'000);
  CHECK(f.take().at(0).params_json == R"({"text":"b"})");
}

TEST_CASE("an agent edits a write so often, and a person after that") {
  Fixture f;
  auto write = f.submit(new_write("a")).write;
  for (int i = 0; i < 20; ++i)
    write = std::get<WriteRecord>(f.edit(write, content("a" + std::to_string(i)), "agent_1"));
  const auto refused = f.edit(write, content("once more"), "agent_1");
  REQUIRE(std::holds_alternative<Error>(refused));
  CHECK(std::get<Error>(refused).type() == ErrorCode::kBatchProtection);
  CHECK(f.ledger->get(write.write_id)->params_json == R"({"text":"a19"})");
  CHECK(std::holds_alternative<WriteRecord>(f.edit(write, content("by a person"), "")));
}

}  // namespace KRUXOS_TEST_FILE
