#include "core/audit/token_use.hpp"

#include "core/audit/audit_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace audit_test;

namespace {

Texts told(LogFixture& f) {
  REQUIRE(f.log->flush());
  Texts all;
  for (const auto& row : audit_rows_after(f.file(), 1, 100)) all.push_back(row.kind + " " + row.account_id + row.body);
  return all;
}

}  // namespace

TEST_CASE("the use of tokens is told of by account and minute") {
  LogFixture f;
  TokenUse use(*f.log, f.clock);
  const auto begin = std::to_string(f.clock.wall_ms());
  use.used("notes", "N1");
  use.used("notes", "N1");
  use.used("notes", "N2");
  CHECK(told(f).empty());
  f.clock.advance(60'000);
  use.used("notes", "N1");
  const auto first = R"(token.used N1{"requests":2,"since_ms":)" + begin + "}";
  CHECK(told(f) == Texts{first});
  use.tell();
  CHECK(told(f).size() == 3);
  use.tell();
  CHECK(told(f).size() == 3);
  use.renewal("notes", "N1", "renewed");
  CHECK(told(f).back() == R"(token.renewal N1{"outcome":"renewed"})");
}

}  // namespace KRUXOS_TEST_FILE
