#include <kruxos/kit/search.hpp>
#include <kruxos/testing.hpp>

#include <catch2/catch.hpp>

using namespace kruxos::kit;

TEST_CASE("a search asks for what its inputs say, and no more") {
  const auto full = search_query("notes", parse(R"({"query":"milk","limit":5,"offset":10})"));
  CHECK((full.collection == "notes" && full.limit == 5 && full.offset == 10));
  REQUIRE(full.where.children.size() == 1);
  CHECK((full.where.children[0].kind == KRUX_TEXT && full.where.children[0].text == "milk"));
  const auto bare = search_query("notes", parse(R"({"query":"","limit":"many"})"));
  CHECK((bare.where.children.empty() && bare.limit == 20 && bare.offset == 0));
  const auto odd = search_query("notes", parse(R"({"limit":-1,"offset":99999999999})"));
  CHECK((odd.limit == 0 && odd.offset == 0));
  CHECK(search_query("notes", parse("nonsense")).limit == 20);
}

TEST_CASE("a search answers with its rows and how many there are") {
  kruxos::testing::FakeClock clock;
  kruxos::testing::FakeStore store(clock, {{"notes", 1, kruxos::Order::kTime, true}});
  auto face = store.store();
  for (const char* id : {"a", "b", "c"}) {
    kruxos::Record record;
    record.collection = "notes";
    record.id = id;
    record.json = "{\"id\":" + quoted(id) + "}";
    record.text = "Milk";
    record.order_ms = static_cast<unsigned char>(id[0]);
    face.put(record);
  }
  face.commit();
  const auto query = search_query("notes", parse(R"({"query":"MILK","limit":2,"offset":0})"));
  CHECK(search_page(store.reader(), query, "notes") == R"({"notes":[{"id":"c"},{"id":"b"}],"total":3})");
}
