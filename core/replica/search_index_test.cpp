// Searches by parts of the index, and without reading its pages.
#include <algorithm>
#include <catch2/catch.hpp>

#include "core/replica/replica_fixture.hpp"
#include "core/replica/search.hpp"
#include "core/storage/database.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;
using Kind = Condition::Kind;

TEST_CASE("pairs of short terms are looked for in parts, and nothing is lost between these") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  constexpr int rows = 6000;
  std::vector<std::string> expected;
  for (int i = 0; i < rows; ++i) {  // both are common, and hardly ever together
    const bool hit = i > 700 && i % 60 == 0;
    const auto id = std::to_string(10'000 + i);
    session->put(message(id, rows - i, hit ? "zqua jxen" : i % 4 == 0 ? "zqua" : i % 4 == 1 ? "jxen" : "hay"));
    if (hit) expected.push_back(id);
  }
  session->commit();
  const auto reader = r.store->reader();
  auto q = messages_where(group(Kind::kAllOf, {text_is("zq"), text_is("jx")}));
  if (GENERATE(false, true)) q.where.children.push_back(field_is("channel", "general"));
  if (GENERATE(false, true)) q.where.children.push_back(text_is("zqua"));
  for (const std::uint32_t limit : {1U, 5U, 20U, 80U, 1000U}) {
    q.limit = limit;
    const auto answer = ask(*reader, q);
    const auto wanted = std::min<std::size_t>(limit, expected.size());
    CHECK(answer.ids == std::vector<std::string>(expected.begin(), expected.begin() + static_cast<int>(wanted)));
    CHECK((answer.result.total_is_lower_bound || answer.result.total == expected.size()));
  }
  q.descending = false;
  auto reversed = ask(*reader, q).ids;
  std::reverse(reversed.begin(), reversed.end());
  CHECK(reversed == expected);
}

TEST_CASE("an index whose format is not known is searched by FTS5") {
  ReplicaFixture r;
  auto session = r.store->begin_session();
  for (int i = 0; i < 3000; ++i) {
    session->put(message(std::to_string(i), i, i % 500 == 7 ? "needles in hay" : i % 500 == 8 ? "pinboard" : "hay"));
  }
  session->commit();
  std::vector<Query> queries{
      messages_where(text_is("needles in")),
      messages_where(group(Kind::kAnyOf, {text_is("needles"), text_is("pinboard")})),
      messages_where(group(Kind::kAllOf, {text_is("needles"), text_is("ha"), field_is("channel", "general")}))};
  std::vector<std::vector<std::string>> expected;
  for (auto& q : queries) {
    q.descending = GENERATE(true, false);
    expected.push_back(ask(*r.store->reader(), q).ids);
    CHECK(expected.back().size() == (q.where.kind == Kind::kAnyOf ? 12 : 6));
  }
  const auto db = open_database(r.file, kReplicaKind);
  register_gram_tokenizer(db->getHandle());
  StatementCache sql(db->getHandle());
  sql.get("SELECT rowid FROM t_messages WHERE t_messages MATCH 'x'").run();  // FTS5 reads the format once
  execute(db->getHandle(), "UPDATE t_messages_config SET v = 5 WHERE k = 'version'");
  const CollectionTable table(mail_collections()[0]);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    std::vector<std::string> ids;
    const SearchBudget budget{std::chrono::seconds(100), std::chrono::seconds(100)};
    Search(sql, table, queries[i], budget).run([&](const RowView& row) {
      ids.emplace_back(row.id);
      return true;
    });
    CHECK(ids == expected[i]);
  }
}

}  // namespace KRUXOS_TEST_FILE
