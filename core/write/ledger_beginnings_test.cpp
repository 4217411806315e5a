#include <catch2/catch.hpp>

#include "core/write/ledger_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace write_test;

namespace {

std::vector<std::string> beginning(LedgerFixture& f, const std::string& begins, std::int64_t limit = 50) {
  WriteFilter filter;
  filter.id_begins = begins;
  filter.limit = limit;
  std::vector<std::string> ids;
  for (const auto& write : f.ledger->list(filter)) ids.push_back(write.write_id);
  return ids;
}

}  // namespace

TEST_CASE("writes are found by the beginnings of their ids, however many came behind them") {
  LedgerFixture f;
  std::vector<std::string> ids;
  for (int i = 0; i < 600; ++i) {
    ids.push_back(f.submit(new_write(std::to_string(i))).write.write_id);
    f.clock.advance(50);
  }
  for (const auto at : {0, 1, 300, 599}) {
    const auto& id = ids[static_cast<std::size_t>(at)];
    for (const std::size_t length : {15, 17, 19, 24, 38}) {
      INFO(id << " " << length);
      CHECK(beginning(f, id.substr(0, length)) == std::vector<std::string>{id});
    }
  }
  CHECK(beginning(f, "w_").size() == 50);
  CHECK(beginning(f, "w_", 3) == std::vector<std::string>(ids.rbegin(), ids.rbegin() + 3));
  for (const std::string& other : std::vector<std::string>{"w", "rb_", "x_01", "w_zz", "w_0-", "w_%", "W_0",
                                                           ids[0] + "0", std::string(500, 'w')}) {
    INFO(other);
    CHECK(beginning(f, other).empty());
  }
}

TEST_CASE("the seqs of a beginning are those of the ids that it can be") {
  CHECK(seqs_of_beginning("w_")->first == 0);
  CHECK(seqs_of_beginning("w_0192f0c1-aaaa-7001")->first == seq_of_id("w_0192f0c1-aaaa-7001-8000-000000000000"));
  CHECK(seqs_of_beginning("cu_0192f0c1-aaaa")->last == seq_of_id("cu_0192f0c1-aaaa-7fff-bfff-ffffffffffff"));
  CHECK_FALSE(seqs_of_beginning(""));
  CHECK_FALSE(seqs_of_beginning("agent_0"));
}

}  // namespace KRUXOS_TEST_FILE
