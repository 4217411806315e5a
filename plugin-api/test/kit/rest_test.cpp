#include <kruxos/kit/rest.hpp>
#include <kruxos/testing.hpp>

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace kruxos::kit;
using kruxos::ErrorKind;
using kruxos::ProxyError;
using kruxos::testing::FakeAnswer;

namespace {

struct Desk {
  kruxos::testing::FakeHost host;
  kruxos::testing::FakeCall fake{host.clock};
  kruxos::Call call = fake.call();
  RestClient api{host.host(), "The tasks service"};

  ProxyError failure(FakeAnswer answer) {
    host.expect("GET", "tasks/1").answers(std::move(answer));
    try {
      api.get(call, "tasks/1");
    } catch (const ProxyError& error) {
      return error;
    }
    throw std::runtime_error("nothing was thrown");
  }
  kruxos::EffectFound look(int most_pages = 20) {
    const Listing list{"tasks?ref=w_1", Paging::by_cursor("next", "after"), "tasks"};
    const auto result = [](const Json& row) { return "{\"id\":" + quoted(text_of(row, "id")) + "}"; };
    return api.find_by(call, list, "ref", "w_1", result, most_pages);
  }
};

}  // namespace

TEST_CASE("what a status means here stands beside what it means everywhere") {
  Desk desk;
  desk.api.means(404, "TaskNotFound").means(409, "TaskIsClosed", ErrorKind::kConflict);
  const auto missing = desk.failure(FakeAnswer::json(404, ""));
  CHECK((missing.kind() == ErrorKind::kNotFound && missing.type() == "TaskNotFound" && missing.has_no_effect()));
  const auto closed = desk.failure(FakeAnswer::json(409, ""));
  CHECK((closed.kind() == ErrorKind::kConflict && closed.type() == "TaskIsClosed" && closed.has_no_effect()));
  CHECK(std::string(closed.what()) == "The tasks service refused the request (HTTP 409).");
  const auto down = desk.failure(FakeAnswer::json(503, ""));
  CHECK((down.kind() == ErrorKind::kUnavailable && down.type().empty() && !down.has_no_effect()));
  desk.api.means(503, "Closed", ErrorKind::kRateLimited);
  CHECK_FALSE(desk.failure(FakeAnswer::json(503, "")).has_no_effect());
  const auto limited = desk.failure(FakeAnswer::rate_limited(7));
  CHECK((limited.retry_after_ms() == 7000 && limited.has_no_effect()));
}

TEST_CASE("what was not sent had no effect, and what was lost may have had one") {
  Desk desk;
  CHECK(desk.failure(FakeAnswer::failed(ErrorKind::kRateLimited, "later", 9)).has_no_effect());
  CHECK_FALSE(desk.failure(FakeAnswer::dropped()).has_no_effect());
  for (const char* other : {"[]", "<html>", "", "7"})
    CHECK(desk.failure(FakeAnswer::json(200, other)).kind() == ErrorKind::kUnavailable);
}

TEST_CASE("what is not there is nothing, and no failure") {
  Desk desk;
  desk.host.expect("GET", "tasks/1").answers(200, R"({"id":1})");
  CHECK(digits_of(*desk.api.find(desk.call, "tasks/1"), "id") == "1");
  for (const int gone : {404, 410}) {
    desk.host.expect("GET", "tasks/1").answers(gone, "");
    CHECK_FALSE(desk.api.find(desk.call, "tasks/1"));
  }
  desk.host.expect("GET", "tasks/1").answers(401, "");
  CHECK_THROWS_AS(desk.api.find(desk.call, "tasks/1"), ProxyError);
  desk.host.expect("DELETE", "tasks/1").answers(204, "");
  desk.api.run(desk.call, "DELETE", "tasks/1");
}

TEST_CASE("a page gives its rows, the next address and the service's time") {
  Desk desk;
  const Listing list{"tasks", Paging::by_link(), ""};
  std::vector<std::string> ids;
  std::optional<std::int64_t> date;
  const auto take = [&](const Json& row) { ids.push_back(digits_of(row, "id")); };
  desk.host.expect("GET", "tasks")
      .answers(FakeAnswer::with(200, R"([{"id":1},{"id":2}])",
                                {{"Link", "</tasks?p=2>; rel=next"}, {"Date", "Sat, 21 Nov 2026 09:30:00 GMT"}}));
  CHECK(desk.api.page(desk.call, list, list.url, take, &date) == "/tasks?p=2");
  CHECK(ids == std::vector<std::string>{"1", "2"});
  CHECK(date == 1'795'253'400'000);
  for (const char* other : {"{}", R"({"tasks":[]})", "null", "[1]", "<html>", R"([{"id":1},null])"}) {
    INFO(other);
    desk.host.expect("GET", "tasks").answers(200, other);
    CHECK_THROWS_AS(desk.api.page(desk.call, list, list.url, take), ProxyError);
  }
}

TEST_CASE("an effect is found by its marker on any page, and absent behind the last one alone") {
  Desk desk;
  desk.host.expect("GET", "tasks?ref=w_1").answers(200, R"({"tasks":[{"id":"a","ref":"w_2"}],"next":"2"})");
  desk.host.expect("GET", "tasks?ref=w_1&after=2").answers(200, R"({"tasks":[{"id":"b","ref":"w_1"}],"next":"3"})");
  CHECK(desk.look().result_json == R"({"id":"b"})");
  desk.host.expect("GET", "tasks?ref=w_1").answers(200, R"({"tasks":[],"next":""})");
  CHECK(desk.look().answer == KRUX_EFFECT_ABSENT);
  desk.host.expect("GET", "tasks?ref=w_1").answers(200, R"({"tasks":[{"id":"a"},{"id":"b","ref":null}]})");
  CHECK(desk.look().answer == KRUX_EFFECT_ABSENT);
  desk.host.expect("GET", "tasks?ref=w_1").answers(200, R"({"tasks":[{"id":"a","ref":7}]})");
  CHECK(desk.look().answer == KRUX_CANNOT_TELL);
  desk.host.expect("GET", "tasks?ref=w_1").answers(200, R"({"tasks":[],"next":"2"})");
  const auto cut = desk.look(1);
  CHECK(cut.answer == KRUX_CANNOT_TELL);
  CHECK(cut.why == "The tasks service lists too much to be looked through.");
  desk.host.expect("GET", "tasks?ref=w_1").answers(500, "");
  CHECK_THROWS_AS(desk.look(), ProxyError);
}

TEST_CASE("in a list by places nothing is absent but from an empty one: a row may have moved") {
  Desk desk;
  const auto look = [&](const std::string& first) {
    const auto rows = [](const std::string& of) { return "{\"tasks\":[" + of + "]}"; };
    desk.host.expect("GET", "tasks").answers(200, rows(first));
    if (!first.empty()) desk.host.expect("GET", "tasks?at=1").answers(200, rows(""));
    const Listing list{"tasks", Paging::by_offset("at"), "tasks"};
    return desk.api.find_by(desk.call, list, "ref", "w_1", [](const Json&) { return std::string("{}"); }).answer;
  };
  CHECK(look("") == KRUX_EFFECT_ABSENT);
  CHECK(look(R"({"ref":"w_2"})") == KRUX_CANNOT_TELL);
}

TEST_CASE("members are the same when their JSON is") {
  const auto a = parse(R"({"id":"1","n":2,"list":[1,{"x":null}],"only":1})");
  const auto b = parse(R"({"n":2,"list":[1,{"x":null}],"id":"1"})");
  CHECK(same_members(a, b, {"id", "n", "list", "neither"}));
  CHECK_FALSE(same_members(a, b, {"id", "only"}));
  CHECK_FALSE(same_members(b, a, {"only"}));
  CHECK_FALSE(same_members(a, parse(R"({"id":1})"), {"id"}));
}

}  // namespace KRUXOS_TEST_FILE
