#include "core/replica/comparison.hpp"

#include <catch2/catch.hpp>

#include "core/replica/record_list.hpp"
#include "core/replica/replica_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace krux::test;

namespace {

struct Two {
  support::Scratch scratch;
  DrivenClock clock;
  Replica kept{scratch.path() / "kept.db", mail_collections(), clock};
  Replica fresh{scratch.path() / "fresh.db", mail_collections(), clock};
  std::function<bool()> stop = [] { return false; };

  static void put(Replica& replica, const std::string& id, const std::string& text = "hello",
                  const std::string& json = R"({"a":1,"b":[1,2]})") {
    const auto session = replica.begin_session();
    auto record = message(id, 1'000, text);
    record.json = json;
    const auto why = session->put(std::move(record));
    CHECK(why.empty());
    session->commit();
  }
  std::vector<std::string> differences(bool whole) {
    std::vector<std::string> all;
    for (const auto& d : compare_replicas(kept, fresh, whole, stop).differences)
      all.push_back(d.id + " " + to_string(d.kind));
    return all;
  }
};

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("two replicas with the same records are alike, whenever and in what order they were put") {
  Two two;
  for (const char* id : {"a", "b", "c"}) Two::put(two.kept, id);
  two.clock.advance(5'000);
  for (const char* id : {"c", "a", "b"}) Two::put(two.fresh, id);
  for (const bool whole : {true, false}) {
    const auto found = compare_replicas(two.kept, two.fresh, whole, two.stop);
    CHECK(found.compared == 3);
    CHECK(found.differences.empty());
  }
}

TEST_CASE("what one replica alone has is named, and what is otherwise") {
  Two two;
  for (const char* id : {"a", "b", "d", "e"}) Two::put(two.kept, id);
  for (const char* id : {"b", "c", "e"}) Two::put(two.fresh, id);
  Two::put(two.fresh, "e", "hello", R"({"a":1,"b":[1,3],"c":null})");
  CHECK(two.differences(true) == Words{"a only_here", "c missing", "d only_here", "e other"});
  SECTION("a sample does not tell what the service has not") {
    CHECK(two.differences(false) == Words{"c missing", "e other"});
  }
  SECTION("the members of its JSON that differ") {
    const auto found = compare_replicas(two.kept, two.fresh, true, two.stop).differences;
    CHECK(differing_members(two.kept, two.fresh, found.back()) == Words{"b", "c"});
    CHECK(differing_members(two.kept, two.fresh, found.front()) == Words{"a", "b"});
  }
}

TEST_CASE("a record that differs in what is searched alone differs, and in no member") {
  Two two;
  Two::put(two.kept, "a", "hello");
  Two::put(two.fresh, "a", "good bye");
  const auto found = compare_replicas(two.kept, two.fresh, true, two.stop).differences;
  REQUIRE(found.size() == 1);
  CHECK(differing_members(two.kept, two.fresh, found[0]).empty());
}

TEST_CASE("more records than are read at once are compared each") {
  Two two;
  for (auto* const replica : {&two.kept, &two.fresh}) {
    const auto session = replica->begin_session();
    for (int i = 0; i < 2'500; ++i) {
      if (replica == &two.kept && i == 1'000) continue;
      (void)session->put(message(fmt::format("m{:05}", i), i, "text"));
    }
    session->commit();
  }
  for (const bool whole : {true, false}) {
    const auto found = compare_replicas(two.kept, two.fresh, whole, two.stop);
    CHECK(found.compared == 2'500);
    REQUIRE(found.differences.size() == 1);
    CHECK(found.differences[0].id == "m01000");
  }
  two.stop = [] { return true; };
  CHECK_THROWS_WITH(compare_replicas(two.kept, two.fresh, true, two.stop), Catch::Contains("was ended"));
}

TEST_CASE("a comparison of replicas that have nothing in common ends where nobody reads on") {
  Two two;
  const auto session = two.fresh.begin_session();
  for (std::size_t i = 0; i < kMostDifferences + 10; ++i) (void)session->put(message(fmt::format("m{}", i), 1, "text"));
  session->commit();
  const auto found = compare_replicas(two.kept, two.fresh, true, two.stop);
  CHECK(found.more);
  CHECK(found.differences.size() == kMostDifferences);
}

}  // namespace KRUXOS_TEST_FILE
