#include <kruxos/kit/cursor.hpp>
#include <kruxos/testing.hpp>

#include <array>
#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace kruxos::kit;

namespace {

enum class Phase { kNew, kListing, kSteady };
constexpr std::array<std::string_view, 3> names_of(Phase) {
  return {"new", "listing", "steady"};
}

struct Part {
  std::string id;
  int tries = 1;
  template <class Self, class Visit>
  static void each(Self& self, Visit&& visit) {
    visit("id", self.id);
    visit("tries", self.tries);
  }
};

struct State {
  Phase phase = Phase::kNew;
  bool open = false;
  std::string page = "first";
  std::int64_t since_ms = 7;
  Part part;
  std::vector<Part> parts;
  template <class Self, class Visit>
  static void each(Self& self, Visit&& visit) {
    visit("phase", self.phase);
    visit("open", self.open);
    visit("page", self.page);
    visit("since_ms", self.since_ms);
    visit("part", self.part);
    visit("parts", self.parts);
  }
};

struct Desk {
  kruxos::testing::FakeHost host;
  kruxos::testing::FakeStore store{host.clock, {}};
  kruxos::SyncStore face = store.store();

  State with(const std::string& cursor) {
    face.set_cursor("state", cursor);
    face.commit();
    return load_cursor<State>(face, "state");
  }
};

}  // namespace

TEST_CASE("a state comes back as it was kept, under its names") {
  Desk desk;
  const State kept{Phase::kSteady, true, "p2", -3, {"a", 2}, {{"b", 3}, {"c", 4}}};
  save_cursor(desk.face, "state", kept);
  desk.face.commit();
  const std::string json = R"({"phase":"steady","open":true,"page":"p2","since_ms":-3,"part":{"id":"a","tries":2},)"
                           R"("parts":[{"id":"b","tries":3},{"id":"c","tries":4}]})";
  CHECK(desk.store.cursors.at("state") == json);
  CHECK(to_json(load_cursor<State>(desk.face, "state")) == json);
}

TEST_CASE("what a state of another version lacks or says otherwise is as at the beginning") {
  Desk desk;
  const auto fresh = to_json(State{});
  for (const char* broken : {"", "nonsense", "[]", "7", "{}", "{"}) CHECK(to_json(desk.with(broken)) == fresh);
  CHECK(to_json(load_cursor<State>(desk.face, "another")) == fresh);
  CHECK(to_json(desk.with(R"({"phase":"gone","open":1,"page":7,"since_ms":"x","part":[],"parts":{},"more":1})")) ==
        fresh);
  CHECK(desk.with(R"({"part":{"tries":99999999999}})").part.tries == 1);
  CHECK(desk.with(R"({"since_ms":9})").page == "first");
}

TEST_CASE("an enum that was kept as a number is read as the name of that place") {
  Desk desk;
  CHECK(desk.with(R"({"phase":1})").phase == Phase::kListing);
  for (const char* none : {R"({"phase":3})", R"({"phase":-1})"}) CHECK(desk.with(none).phase == Phase::kNew);
}

}  // namespace KRUXOS_TEST_FILE
