// Searches whose time is over.
#include <catch2/catch.hpp>

#include "core/replica/replica_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using Kind = Condition::Kind;
using Op = Condition::Op;

TEST_CASE("a search that was cut leaves nothing open: the next one finds what came after it") {
  ReplicaFixture r;
  r.store.reset();
  Replica store(r.file, mail_collections(), r.clock, {std::chrono::seconds(100), std::chrono::microseconds(0)});
  auto session = store.begin_session();
  for (int i = 0; i < 3000; ++i) {
    auto m = message(std::to_string(i), 100'000 - i, i < 1000 ? "hay" : "needle");
    m.fields.emplace_back("sender", std::string(i % 2 == 0 ? "even" : "odd"));
    session->put(m);
  }
  session->commit();
  auto q = messages_where(text_is("needle"));
  if (GENERATE(true, false)) {
    q.where = group(Kind::kAllOf, {field_is("channel", "general"), field_is("channel", "general", Op::kEq)});
  }
  q.limit = 5;
  CHECK(ask(*store.reader(), q).result.total_is_lower_bound);
  session->put(message("new", 200'000, "needle"));
  session->commit();
  CHECK(ask(*store.reader(), q).ids.at(0) == "new");
}

TEST_CASE("a search whose time is used up says so") {
  ReplicaFixture r;
  r.store.reset();
  Replica store(r.file, mail_collections(), r.clock,
                SearchBudget{std::chrono::microseconds(0), std::chrono::microseconds(0)});
  auto session = store.begin_session();
  for (int i = 0; i < 1000; ++i) session->put(message(std::to_string(i), i, i == 0 ? "needle" : "hay"));
  session->commit();
  auto reader = store.reader();
  auto q = messages_where(group(Kind::kNoneOf, {text_is("hay")}));
  q.limit = 5;
  const auto none = ask(*reader, q);
  CHECK(none.ids.empty());
  CHECK(none.result.incomplete);
  CHECK(none.result.total_is_lower_bound);
  q.where = text_is("hay");
  const auto page = ask(*reader, q);
  CHECK(page.ids.size() == 5);
  CHECK_FALSE(page.result.incomplete);
  CHECK(page.result.total_is_lower_bound);
  CHECK(page.result.total < 999);
}

TEST_CASE("in no time: a full page in the order of a key is exact, and how many there are in all is known") {
  ReplicaFixture r;
  r.store.reset();
  Replica store(r.file, mail_collections(), r.clock,
                SearchBudget{std::chrono::microseconds(0), std::chrono::microseconds(0)});
  auto session = store.begin_session();
  for (int i = 0; i < 3000; ++i) {
    Record p;
    p.collection = "people";
    p.id = p.order_key = std::to_string(10'000 + i);
    p.text = "name";
    p.json = "{}";
    p.fields = {{"team", "red"}};
    session->put(p);
    session->put(message(std::to_string(i), i, "hay"));
  }
  session->commit();
  const auto reader = store.reader();
  Query q;
  q.collection = "people";
  q.descending = false;
  q.limit = 3;
  q.count_limit = 1'000'000;
  auto answer = ask(*reader, q);
  CHECK(answer.ids == std::vector<std::string>{"10000", "10001", "10002"});
  CHECK(answer.result.total == 3000);
  CHECK_FALSE(answer.result.total_is_lower_bound);
  CHECK_FALSE(answer.result.incomplete);
  q.count_limit = 100;
  CHECK(ask(*reader, q).result.total == 100);
  CHECK(ask(*reader, q).result.total_is_lower_bound);
  q.where = field_is("team", "red");
  answer = ask(*reader, q);
  CHECK(answer.ids == std::vector<std::string>{"10000", "10001", "10002"});
  CHECK_FALSE(answer.result.incomplete);
  CHECK(answer.result.total_is_lower_bound);
  q.limit = 2000;
  CHECK(ask(*reader, q).result.incomplete);
  q.where = {};
  q.count_limit = 1'000'000;
  CHECK(ask(*reader, q).result.incomplete);
  CHECK(ask(*reader, q).result.total == 3000);
  auto all = messages_where({});
  all.limit = 3;
  all.count_limit = 1'000'000;
  CHECK(ask(*reader, all).result.total == 3000);
  all.from_ms = 5;  // those before it have to be told from the others
  CHECK(ask(*reader, all).result.total_is_lower_bound);
}

}  // namespace KRUXOS_TEST_FILE
