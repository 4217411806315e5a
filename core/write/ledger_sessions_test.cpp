#include <catch2/catch.hpp>

#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace write_test;

namespace {

NewWrite of_session(const std::string& session, int n, const std::string& agent = "agent_1") {
  auto write = new_write(std::to_string(n));
  write.agent_id = agent;
  write.session_id = session;
  return write;
}

}  // namespace

TEST_CASE("a write keeps the session it was asked for in") {
  LedgerFixture f;
  const auto write = f.submit(of_session("sess_a", 1)).write;
  CHECK(write.session_id == "sess_a");
  CHECK(f.ledger->get(write.write_id)->session_id == "sess_a");
  CHECK(f.ledger->get(f.submit(of_session("", 2)).write.write_id)->session_id.empty());
  // It is no part of the content: the same again from another session is the same write.
  const auto again = f.submit(of_session("sess_b", 1));
  CHECK(again.duplicate);
  CHECK(again.write.session_id == "sess_a");
}

TEST_CASE("writes are listed and counted by session") {
  LedgerFixture f;
  const auto before = f.submit(of_session("sess_a", 0)).write;
  for (int i = 1; i <= 3; ++i) f.submit(of_session("sess_a", i));
  const auto gone = f.submit(of_session("sess_a", 4)).write;
  f.cancel(gone.write_id, "agent_1");
  f.submit(of_session("sess_b", 5));
  f.submit(of_session("sess_a", 6, "agent_2"));

  WriteFilter filter;
  filter.agent_id = "agent_1";
  filter.session_id = "sess_a";
  CHECK(f.ledger->list(filter).size() == 5);
  filter.after_seq = before.seq;
  CHECK(f.ledger->list(filter).size() == 4);
  filter.states = {WriteState::kCancelled};
  CHECK(f.ledger->list(filter).size() == 1);
  filter.session_id = "sess_x";
  CHECK(f.ledger->list(filter).empty());

  using Counts = std::map<WriteState, std::int64_t>;
  CHECK(f.ledger->counts_of_session("agent_1", "sess_a", 0) ==
        Counts{{WriteState::kBuffered, 4}, {WriteState::kCancelled, 1}});
  CHECK(f.ledger->counts_of_session("agent_1", "sess_a", before.seq) ==
        Counts{{WriteState::kBuffered, 3}, {WriteState::kCancelled, 1}});
  CHECK(f.ledger->counts_of_session("agent_1", "sess_x", 0).empty());
}

TEST_CASE("what ended and what a person accepted since some time is counted") {
  LedgerFixture f;
  const auto early = f.submit(of_session("s", 1)).write;
  f.cancel(early.write_id, "agent_1");
  f.clock.advance(1'000);
  const auto since = f.clock.wall_ms();
  auto asked = of_session("s", 2);
  asked.approval_reason = "Every one needs a person.";
  const auto write = f.submit(asked).write;
  Answer<WriteRecord> accepted;
  f.ledger->accept(write.write_id, write.content_hash, "operator:ann", accepted.slot());
  CHECK(accepted.value().approval_resolved);
  CHECK_FALSE(f.ledger->get(write.write_id)->approval_resolved);
  CHECK(f.ledger->recent("agent_1", WriteState::kBuffered, since).accepted == 1);
  CHECK(f.ledger->recent("agent_1", WriteState::kBuffered, since + 1).accepted == 0);
  CHECK(f.ledger->recent("agent_2", WriteState::kBuffered, since).accepted == 0);
  f.clock.advance(1'000);
  f.cancel(write.write_id, "agent_1");
  const auto recent = f.ledger->recent("agent_1", WriteState::kCancelled, since);
  CHECK(recent.ended == 1);
  CHECK(recent.accepted == 1);
  CHECK_FALSE(recent.cut);
  REQUIRE(recent.newest.size() == 1);
  CHECK(recent.newest[0].write_id == write.write_id);
  CHECK(f.ledger->recent("agent_1", WriteState::kCancelled, 0).ended == 2);
}

}  // namespace KRUXOS_TEST_FILE
