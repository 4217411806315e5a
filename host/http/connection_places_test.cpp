#include "host/http/connection_places.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

/// Connections by name. Whoever is asked to go is noted, and goes when the test says so.
struct Room {
  explicit Room(PlaceLimits limits) : places(limits) {}

  bool enter(const std::string& name) {
    auto place = places.enter([this, name] { asked.push_back(name); });
    if (!place) return false;
    open[name] = std::move(place);
    return true;
  }
  ConnectionPlaces::Place& at(const std::string& name) { return *open.at(name); }
  /// One more that shows its key, has its request answered and waits for the next.
  bool enter_as(const std::string& agent, const std::string& name) {
    if (!enter(name) || !at(name).belongs_to(agent)) return false;
    at(name).waits();
    return true;
  }
  std::vector<std::string> take_asked() { return std::exchange(asked, {}); }

  ConnectionPlaces places;
  std::vector<std::string> asked;
  std::map<std::string, std::unique_ptr<ConnectionPlaces::Place>> open;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the stranger who has waited longest makes room for the next", "[http]") {
  Room room(places_of_strangers(3));
  for (const auto* name : {"a", "b", "c"}) REQUIRE(room.enter(name));
  CHECK(room.take_asked().empty());
  REQUIRE(room.enter("d"));
  CHECK(room.take_asked() == Names{"a"});
  CHECK(room.at("a").must_go());
  room.at("b").busy();  // and b's request is answered
  room.at("b").waits();
  REQUIRE(room.enter("e"));
  REQUIRE(room.enter("f"));
  CHECK(room.take_asked() == Names{"c", "d"});
  room.open.erase("e");  // one that goes by itself
  REQUIRE(room.enter("g"));
  CHECK(room.take_asked().empty());
  CHECK(room.places.make_room());
  CHECK(room.take_asked() == Names{"b"});
}

TEST_CASE("who is being answered does not go, and who has a request after all stays", "[http]") {
  Room room(places_of_strangers(2));
  REQUIRE(room.enter("a"));
  REQUIRE(room.enter("b"));
  room.at("a").busy();
  REQUIRE(room.enter("c"));
  CHECK(room.take_asked() == Names{"b"});
  room.at("b").busy();  // before it has gone
  CHECK_FALSE(room.at("b").must_go());
  REQUIRE(room.enter("d"));
  CHECK(room.take_asked() == Names{"c"});
  room.at("d").busy();
  CHECK_FALSE(room.enter("e"));
  CHECK_FALSE(room.places.make_room());
  CHECK(room.take_asked().empty());
}

TEST_CASE("strangers leave room for those with a key, and those for newcomers", "[http]") {
  Room room({8, 6, 7, 4});
  for (const auto* name : {"1", "2", "3", "4", "5", "6"}) REQUIRE(room.enter(name));
  CHECK(room.asked.empty());
  REQUIRE(room.enter_as("A", "A1"));
  CHECK(room.take_asked() == Names{"1"});
  REQUIRE(room.enter_as("A", "A2"));
  REQUIRE(room.enter_as("B", "B1"));
  CHECK(room.take_asked().empty());
  REQUIRE(room.enter("7"));
  CHECK(room.take_asked() == Names{"2"});
  // However many strangers come, no connection with a key goes.
  for (int i = 0; i < 100; ++i) REQUIRE(room.enter("s" + std::to_string(i)));
  for (const auto& name : room.take_asked()) CHECK((name.front() != 'A' && name.front() != 'B'));
  CHECK_FALSE(room.at("A1").must_go());
}

TEST_CASE("an agent has a part of the connections, and gives up its own idle ones for more", "[http]") {
  Room room({8, 6, 7, 3});
  for (const auto* name : {"A1", "A2", "A3"}) REQUIRE(room.enter_as("A", name));
  REQUIRE(room.enter_as("B", "B1"));
  CHECK(room.at("A1").belongs_to("A"));
  room.at("A1").waits();
  REQUIRE(room.enter_as("A", "A4"));
  CHECK(room.take_asked() == Names{"A2"});
  for (const auto* name : {"A1", "A3", "A4"}) room.at(name).busy();
  CHECK_FALSE(room.enter_as("A", "A5"));
  CHECK(room.take_asked().empty());
  REQUIRE(room.enter_as("B", "B2"));
  room.open.erase("A1");
  CHECK(room.at("A5").belongs_to("A"));
}

TEST_CASE("where all agents have taken all places, the one that has most gives up an idle one", "[http]") {
  Room room({8, 6, 5, 4});
  for (const auto* name : {"A1", "A2", "A3"}) REQUIRE(room.enter_as("A", name));
  for (const auto* name : {"B1", "B2"}) REQUIRE(room.enter_as("B", name));
  REQUIRE(room.enter_as("C", "C1"));
  CHECK(room.take_asked() == Names{"A1"});
  // Another agent's key on a connection is that agent's from then on.
  CHECK(room.at("C1").belongs_to("B"));
  room.at("C1").waits();
  CHECK(room.take_asked().empty());
  room.open.clear();
  for (const auto* name : {"C2", "C3", "C4", "C5"}) REQUIRE(room.enter_as("C", name));
  CHECK(room.take_asked().empty());
}

TEST_CASE("who is answered in parts goes where no idle one could, the first first", "[http]") {
  Room room({8, 3, 5, 3});
  for (const auto* name : {"a", "b", "c"}) REQUIRE(room.enter(name));
  for (const auto* name : {"c", "a"}) {
    room.at(name).busy();
    room.at(name).streams();
  }
  for (const auto* name : {"d", "e"}) REQUIRE(room.enter(name));
  CHECK(room.take_asked() == Names{"b", "d"});
  room.at("e").busy();
  REQUIRE(room.enter("f"));
  CHECK(room.take_asked() == Names{"c"});
  room.at("a").waits();  // its answer has ended
  for (const auto* name : {"A1", "A2", "A3"}) REQUIRE(room.enter_as("A", name));
  room.take_asked();
  for (const auto* name : {"A2", "A1", "A3"}) room.at(name).streams();
  room.at("A3").waits();
  REQUIRE(room.enter_as("A", "A4"));
  CHECK(room.take_asked() == Names{"A3"});
  room.at("A4").busy();
  REQUIRE(room.enter_as("A", "A5"));
  CHECK(room.take_asked() == Names{"A2"});
  // Of several agents the one that has most, whatever the others' wait for.
  for (const auto* name : {"B1", "B2"}) REQUIRE(room.enter_as("B", name));
  CHECK(room.take_asked().empty());
  room.at("A5").streams();
  REQUIRE(room.enter_as("C", "C1"));
  CHECK(room.take_asked() == Names{"A1"});
}

TEST_CASE("who came, who was sent away and who was refused is counted", "[http]") {
  Room room({4, 2, 3, 2});
  const auto of = [&](const PlaceFigures::Of& figures) {
    return std::vector<std::uint64_t>{figures.open, figures.sent_away, figures.refused};
  };
  const auto strangers = [&] { return of(room.places.figures().strangers); };
  const auto agents = [&] { return of(room.places.figures().agents); };
  using Counts = std::vector<std::uint64_t>;
  REQUIRE(room.enter("a"));
  REQUIRE(room.enter("b"));
  REQUIRE(room.enter("c"));
  CHECK(strangers() == Counts{2, 0, 0});  // a was asked, and is not gone yet
  room.open.erase("a");
  CHECK(strangers() == Counts{2, 1, 0});
  room.open.erase("b");  // by itself
  CHECK(strangers() == Counts{1, 1, 0});
  room.at("c").busy();
  REQUIRE(room.enter("d"));
  room.at("d").busy();
  CHECK_FALSE(room.enter("e"));
  CHECK(strangers() == Counts{2, 1, 1});
  for (const auto* name : {"c", "d"}) CHECK(room.at(name).belongs_to("agent"));
  CHECK(strangers() == Counts{0, 1, 1});
  CHECK(agents() == Counts{2, 0, 0});
  REQUIRE(room.enter("f"));
  CHECK_FALSE(room.at("f").belongs_to("agent"));
  CHECK(agents() == Counts{2, 0, 1});
  room.at("c").waits();
  CHECK(room.at("f").belongs_to("agent"));
  room.open.erase("c");
  CHECK(agents() == Counts{2, 1, 1});
}

}  // namespace KRUXOS_TEST_FILE
