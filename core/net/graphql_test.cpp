#include "core/net/graphql.hpp"

#include <catch2/catch.hpp>

#include "core/util/json.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

std::string body(const std::string& document) {
  return "{\"query\":" + json_string(document) + ",\"variables\":{\"a\":1}}";
}

std::string why(const std::string& document) {
  return why_not_graphql_query(body(document));
}

}  // namespace

TEST_CASE("queries and fragments are known to read") {
  for (const auto* document : {
           "{ issues { id } }",
           "query { a }",
           "query Mine($n: Int = 3, $in: In = {x: [1, {y: 2}]}) @live(a: {b: 1}) { a(b: {c: \"}\"}) { d } }",
           "query mutation { mutation { subscription } }",
           "fragment F on T { a } query Q { ...F ... on U { b } }",
           "# mutation { a }\nquery { a # }\n}",
           "query { a(t: \"mutation \\\" }\") }",
           "\xEF\xBB\xBF,, query{a}",
           "{ a } query B { b }",
       }) {
    INFO(document);
    CHECK(why(document).empty());
  }
  CHECK(why_not_graphql_query("[" + body("{a}") + "," + body("query {b}") + "]").empty());
}

TEST_CASE("whatever is or may be something else is not") {
  for (const auto* document :
       {"mutation { a }", "query Q { a } mutation M { b }", "subscription { a }", "# {\nmutation { a }",
        "fragment F on T { a } mutation { ...F }", "{ a(t: \"\\\"\") } mutation { b }", "{ a(t: \"\") } mutation { b }",
        "extend type T { a: B }", "type T { a: B }", "{ a } mutation"}) {
    INFO(document);
    CHECK_THAT(why(document), Catch::Contains("which is no query"));
  }
  for (const auto* document : {"", "  # nothing", "{ a", "query", "query Q", "query { a }}", "query { a(\"} }",
                               "@x { a }", "query { a } \"\"\"", "query ) { a }", "\x01{ a }",
                               // Servers before block strings read two operations.
                               "{ a(x: [\"\"\" \"]) } mutation { b } #\"\"\"]) }", "{ a(t: \"\"\"b\"\"\") }",
                               // Some end the comment there.
                               "{ a # \xE2\x80\xA8} mutation { b\n}", "{ a(t: \"\xC3\xA4\") }"}) {
    INFO(document);
    CHECK_FALSE(why(document).empty());
  }
  for (const auto* request :
       {"", "{}", "[]", "{\"query\":1}", "[{\"query\":\"{a}\"},{}]", "query={a}",
        "{\"query\":\"{a}\",\"query\":\"mutation{b}\"}", "{\"id\":\"abc\"}", "\"{a}\"",
        "{\"query\":\"{a}\",\"Query\":\"mutation{b}\"}", "{\"query\":\"{a}\",\"documentId\":\"b\"}",
        "{\"query\":\"{a}\",\"extensions\":{\"persistedQuery\":{}}}",
        "{\"query\":\"{a}\",\"query\\u0000\":\"mutation{b}\"}"}) {
    INFO(request);
    CHECK_FALSE(why_not_graphql_query(request).empty());
  }
  CHECK_FALSE(why_not_graphql_query("[" + body("{a}") + "," + body("mutation {b}") + "]").empty());
}

}  // namespace KRUXOS_TEST_FILE
