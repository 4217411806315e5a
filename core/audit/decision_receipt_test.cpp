#include "core/audit/decision_receipt.hpp"

#include "core/audit/audit_fixture.hpp"
#include "core/util/json.hpp"

namespace KRUXOS_TEST_FILE {

using namespace audit_test;

namespace {

struct Signed : LogFixture {
  Signed() {
    log.reset();
    AuditOptions options;
    options.key_file = scratch.path() / "audit.key";
    start(std::move(options));
    for (const char* kind : {"write.submitted", "write.accept"}) add(kind);
    REQUIRE(log->flush());
  }
  void add(const std::string& kind, const std::string& write_id = "w_1") {
    auto entry = entry_of(kind, clock.wall_ms(), R"({"who":"operator:ann"})");
    entry.write_id = write_id;
    REQUIRE(log->add(entry));
  }
  std::string receipt(const std::string& write_id = "w_1") {
    return make_decision_receipt(log->status(), write_id, audit_rows_of_write(file(), write_id), clock.wall_ms(),
                                 [this](std::string_view message) { return log->sign(message); });
  }
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a receipt of decisions is what the host has signed, and is checked without it") {
  Signed f;
  const auto receipt = check_decision_receipt(f.receipt());
  CHECK(receipt.problems.empty());
  CHECK(receipt.write_id == "w_1");
  CHECK(receipt.log_id == f.log->status().log_id);
  CHECK(receipt.key == f.log->status().key);
  REQUIRE(receipt.rows.size() == 2);
  CHECK(receipt.rows[0].kind == "write.submitted");
  CHECK(receipt.gaps.empty());
  CHECK(receipt.rows[1].body == R"({"who":"operator:ann"})");
}

TEST_CASE("a receipt that was changed proves nothing") {
  Signed f;
  const auto text = f.receipt();
  const auto problems = [](const std::string& changed) { return check_decision_receipt(changed).problems.size(); };
  CHECK(problems(replaced(text, "operator:ann", "operator:bob")) == 2);
  CHECK(problems(replaced(text, "write.accept", "write.reject")) == 2);
  CHECK(problems(replaced(text, "\"made_at_ms\":1", "\"made_at_ms\":2")) == 1);
  CHECK(problems(replaced(text, f.log->status().key, std::string(64, '0'))) == 1);
  CHECK(problems(replaced(text, "\"write_id\":\"w_1\",\"made", "\"write_id\":\"w_2\",\"made")) == 3);
  CHECK_THROWS_AS(check_decision_receipt("{}"), Error);
  CHECK_THROWS_AS(check_decision_receipt("no"), Error);
}

TEST_CASE("however often an agent asks, a receipt has what was decided, and says what it has not") {
  Signed f;
  for (int i = 0; i < 1500; ++i) f.add("call");
  for (const char* kind : {"write.claim", "write.done"}) f.add(kind);
  f.add("write.done", "w_2");
  REQUIRE(f.log->flush());
  const auto receipt = check_decision_receipt(f.receipt());
  CHECK(receipt.problems.empty());
  CHECK(receipt.gaps.empty());
  REQUIRE(receipt.rows.size() == 4);
  CHECK(receipt.rows[1].kind == "write.accept");
  CHECK(receipt.rows[3].kind == "write.done");
  const auto late = check_decision_receipt(f.receipt("w_2"));
  CHECK(late.problems.empty());
  REQUIRE(late.gaps.size() == 1);
  CHECK_THAT(late.gaps[0], Catch::Contains("beginning"));
  CHECK(check_decision_receipt(replaced(f.receipt(), "\"more\":false", "\"more\":true")).problems.size() == 1);
}

TEST_CASE("a log without a key signs nothing") {
  LogFixture f;
  CHECK_THROWS_AS(f.log->sign("x"), Error);
  CHECK_THROWS_AS(f.log->rotate_key(), Error);
}

}  // namespace KRUXOS_TEST_FILE
