#include "core/write/approval_figures.hpp"

#include <catch2/catch.hpp>

#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace write_test;

TEST_CASE("figures of approvals tell how many, how fast, and which way") {
  LedgerFixture f;
  ApprovalFiguresReader reader(f.store, f.clock);
  const auto none = reader.read();
  CHECK(none.accepted + none.rejected + none.last_hour + none.at_once + none.median_ms == 0);
  const auto decide = [&](const char* text, std::int64_t after_ms, bool accept, const std::string& who) {
    auto write = new_write(text);
    write.approval_reason = "Somebody must look at it.";
    const auto asked = f.submit(write).write;
    f.clock.advance(after_ms);
    Answer<WriteRecord> answer;
    if (accept) {
      f.ledger->accept(asked.write_id, asked.content_hash, who, answer.slot());
    } else {
      f.ledger->reject(asked.write_id, "", who, answer.slot());
    }
    answer.value();
  };
  decide("long ago", 1'000, true, "operator:ann");
  f.clock.advance(ApprovalFigures::kWindowMs);
  decide("a", 2'000, true, "operator:ann");
  f.clock.advance(3'600'000);
  decide("b", 60'000, true, "operator:ann");
  decide("c", 5'000, false, "operator:ann/page");
  decide("by the host", 1, false, "host");
  const auto figures = reader.read();
  CHECK(figures.accepted == 2);
  CHECK(figures.rejected == 1);
  CHECK(figures.last_hour == 2);
  CHECK(figures.at_once == 2);
  CHECK(figures.median_ms == 5'000);
}

}  // namespace KRUXOS_TEST_FILE
