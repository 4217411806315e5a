#include "host/operator/decisions.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/storage/statement.hpp"
#include "core/write/copies.hpp"
#include "core/write/write_test_support.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

TEST_CASE("what is decided together is decided in the order of admission, and answered as it was asked") {
  support::Scratch scratch;
  DrivenClock clock;
  GroupCommit store(scratch.path() / "kruxos.db", kLedgerKind);
  WriteBuffer buffer(store, clock, "boot-1");
  std::vector<std::string> ids;
  const std::string decision = GENERATE("release", "accept");
  for (const auto* text : {"a", "b", "c"}) {
    auto write = new_write(text);
    write.order = "C1";
    if (decision == "accept") write.approval_reason = "The tier asks.";
    Answer<Submitted> answer;
    buffer.ledger.submit(std::move(write), answer.slot());
    ids.push_back(answer.value().write.write_id);
  }
  if (decision == "release") {
    store.run([&](SQLite::Database& db) {
      StatementCache sql(db.getHandle());
      hold_copies(sql, {"This data directory is a copy.", "boot-1", 0}, clock);
    });
  }
  std::vector<std::string> decided;
  auto observed = buffer.ledger.observe([&](const WriteRecord& write) { decided.push_back(write.write_id); });

  DecisionRequest asked;
  asked.decision = decision;
  asked.held = decision == "release";
  for (auto id = ids.rbegin(); id != ids.rend(); ++id)
    asked.writes.push_back({*id, buffer.ledger.get(*id)->content_hash, std::nullopt, {}});
  asked.writes.push_back({"none", "", std::nullopt, {}});
  AccountDirectory accounts;
  auto answers = begin_decisions(buffer.ledger, accounts, asked, "operator:ann");
  REQUIRE(answers.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto answer = answers[i].get();
    REQUIRE(std::holds_alternative<WriteRecord>(answer));
    CHECK(std::get<WriteRecord>(answer).write_id == asked.writes[i].write_id);
  }
  CHECK(std::holds_alternative<Error>(answers[3].get()));
  observed.reset();
  CHECK(decided == ids);
}

}  // namespace KRUXOS_TEST_FILE
