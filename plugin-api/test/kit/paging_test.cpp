#include <kruxos/kit/paging.hpp>

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace kruxos::kit;

namespace {

std::string link_in(const std::string& value, const char* relation = "next") {
  return link_of({200, {{"Content-Type", "application/json"}, {"link", value}}, ""}, relation);
}

std::string next(const Paging& paging, std::string_view asked, std::string_view answer, std::size_t rows = 1) {
  const auto json = parse(answer);
  return paging.next(asked, {200, {}, std::string(answer)}, json, rows);
}

}  // namespace

TEST_CASE("a parameter takes the place of the one that was there") {
  CHECK(with_parameter("tasks", "page", "2") == "tasks?page=2");
  CHECK(with_parameter("tasks?", "page", "2") == "tasks?page=2");
  CHECK(with_parameter("tasks?page=1&size=5", "page", "2") == "tasks?size=5&page=2");
  CHECK(with_parameter("tasks?size=5&page=1&&page=7", "page", "2") == "tasks?size=5&page=2");
  CHECK(with_parameter("tasks?pages=1&page", "page", "a b&c") == "tasks?pages=1&page=a%20b%26c");
}

TEST_CASE("a parameter is read by its whole name") {
  CHECK(parameter_of("tasks?pages=1&page=2&size=5", "page") == "2");
  CHECK(parameter_of("tasks?size=5&page=", "page").empty());
  for (const char* none : {"tasks", "tasks?", "tasks?pages=1", "tasks?page", "page=1"}) {
    INFO(none);
    CHECK(parameter_of(none, "page").empty());
  }
}

TEST_CASE("an address in an answer is understood as the service means it") {
  CHECK(resolved("tasks?page=1", "https://service.example/v1/tasks?page=2") ==
        "https://service.example/v1/tasks?page=2");
  CHECK(resolved("tasks?page=1", "/v1/tasks?page=2") == "/v1/tasks?page=2");
  CHECK(resolved("a/tasks?page=1", "?page=2") == "a/tasks?page=2");
  CHECK(resolved("a/tasks?page=1", "tasks?page=a/b") == "a/tasks?page=a/b");
  CHECK(resolved("tasks", "tasks?at=10:30") == "tasks?at=10:30");
}

TEST_CASE("the link of a relation is found among others, whatever the others say") {
  CHECK(link_in(R"(<https://a.example/?p=2>; rel="next", <https://a.example/?p=9>; rel="last")") ==
        "https://a.example/?p=2");
  CHECK(link_in(R"(<a?p=1>;rel=prev,<a?p=3;x>;title="; rel=";REL="start next")") == "a?p=3;x");
  CHECK(link_in(R"(<a>; title="a, b"; rel="prev", <b>; rel=next)") == "b");
  for (const char* none : {"", "<", "<a", "<a>", "<a>; rel", "<a>; rel=", "<a>; rel=\"", "<a>; rel=\"nextly\"",
                           "<a>; xrel=next", "a; rel=next", "<a>; rel=prev, <b>; rel=last"}) {
    INFO(none);
    CHECK(link_in(none).empty());
  }
  CHECK(link_in("<a>; rel=self", "self") == "a");
  CHECK(link_of({200, {{"Link", "<a>; rel=prev"}, {"Link", "<b>; rel=next"}}, ""}, "next") == "b");
}

TEST_CASE("each way of naming the next page ends") {
  const Json none;
  CHECK(Paging::none().next("tasks", {}, none, 5).empty());
  const kruxos::HttpResponse linked{200, {{"Link", "<?page=2>; rel=\"next\""}}, ""};
  CHECK(Paging::by_link().next("tasks?page=1", linked, none, 0) == "tasks?page=2");
  CHECK(Paging::by_link().next("tasks?page=2", {}, none, 5).empty());

  const auto cursor = Paging::by_cursor("meta.next", "after");
  CHECK(next(cursor, "tasks?size=5", R"({"meta":{"next":"a/b"}})") == "tasks?size=5&after=a%2Fb");
  CHECK(next(cursor, "tasks?after=1", R"({"meta":{"next":17}})") == "tasks?after=17");
  for (const char* last : {"{}", R"({"meta":[]})", R"({"meta":{"next":null}})", R"({"meta":{"next":""}})", "[]"})
    CHECK(next(cursor, "tasks?after=1", last).empty());
  const auto flagged = Paging::by_cursor("next", "after", "more");
  CHECK(next(flagged, "tasks", R"({"next":"b","more":true})") == "tasks?after=b");
  for (const char* last : {R"({"next":"b","more":false})", R"({"next":"b"})", R"({"next":"b","more":"yes"})"})
    CHECK(next(flagged, "tasks", last).empty());

  const auto address = Paging::by_address("links.next");
  CHECK(next(address, "tasks?page=1", R"({"links":{"next":"/v1/tasks?page=2"}})") == "/v1/tasks?page=2");
  CHECK(next(address, "tasks?page=1", R"({"links":{"next":null}})").empty());

  const auto offset = Paging::by_offset("offset");
  CHECK(next(offset, "tasks?limit=50", "[]", 30) == "tasks?limit=50&offset=30");
  CHECK(next(offset, "tasks?offset=30&limit=50", "[]", 50) == "tasks?limit=50&offset=80");
  CHECK(next(offset, "tasks?offset=80", "[]", 0).empty());
  const auto number = Paging::by_number("page");
  CHECK(next(number, "tasks", "[]") == "tasks?page=2");
  CHECK(next(number, "tasks?page=2", "[]") == "tasks?page=3");
  CHECK(next(number, "tasks?page=3", "[]", 0).empty());
}

TEST_CASE("a list whose next page is the same one does not go on for ever") {
  CHECK_THROWS_AS(next(Paging::by_cursor("next", "after"), "tasks?after=b", R"({"next":"b"})"), kruxos::ProxyError);
  const kruxos::HttpResponse same{200, {{"Link", "<tasks?page=1>; rel=next"}}, ""};
  CHECK_THROWS_AS(Paging::by_link().next("tasks?page=1", same, Json(), 1), kruxos::ProxyError);
}

}  // namespace KRUXOS_TEST_FILE
