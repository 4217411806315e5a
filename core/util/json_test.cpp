#include "core/util/json.hpp"

#include <catch2/catch.hpp>

#include "core/util/error.hpp"

using namespace krux;

namespace {
std::string canonical(std::string_view text) {
  return canonical_json(parse_json(text, "the test's text"));
}
}  // namespace

TEST_CASE("canonical JSON is RFC 8785") {
  CHECK(canonical(R"({ "b" : 1, "a" : [ true, null, "x" ], "c": {} , "d": []})") ==
        R"({"a":[true,null,"x"],"b":1,"c":{},"d":[]})");
  CHECK(canonical("[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001,-0.0,1e21,123e18,1e-7]") ==
        "[333333333.3333333,1e+30,4.5,0.002,1e-27,0,1e+21,123000000000000000000,1e-7]");
  CHECK(canonical(R"(["\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"])") == "[\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"]");
  // Keys sort by UTF-16 units: a surrogate pair (U+1F600) comes before U+FB33.
  CHECK(canonical("{\"\xEF\xAC\xB3\":1,\"\xF0\x9F\x98\x80\":2,\"\xE2\x82\xAC\":3,\"a\":4,\"aa\":5}") ==
        "{\"a\":4,\"aa\":5,\"\xE2\x82\xAC\":3,\"\xF0\x9F\x98\x80\":2,\"\xEF\xAC\xB3\":1}");
  CHECK_THROWS_AS(canonical("[9007199254740993]"), Error);
}

TEST_CASE("bad JSON is refused with a reason") {
  for (const char* bad : {"", "{", "{\"a\":1,}", "nul", "[1]x", "{\"a\":1 \"b\":2}", "{\"a\":1,\"a\":2}",
                          "[\"\\u0000\"]", "[\"\\udc00\"]", "[\"a\\uDFFF\"]", "{\"\\udc00\":1}", "[\"\xff\"]",
                          "[\"\xed\xa0\x80\"]", "[\"\\ud800\"]", "[01]", "[1e999]", "'a'", "[NaN]"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_json(bad, "x"), Error);
  }
  const std::string with_nul("[1]\0[2]", 7);
  CHECK_THROWS_AS(parse_json(with_nul, "x"), Error);
}

TEST_CASE("a key that stands twice is found in narrow and wide objects, at its own depth") {
  const auto object = [](int keys, int repeated) {
    std::string text = R"({"in":{"k0":{"k0":1}},"k)";
    for (int i = 0; i < keys; ++i) text += std::to_string(i) + R"(":{"k0":0,"k1":0},"k)";
    return text + std::to_string(repeated) + "\":0}";
  };
  for (const int keys : {1, 2, 23, 24, 25, 26, 1000}) {
    CAPTURE(keys);
    CHECK_NOTHROW(parse_json(object(keys, keys), "x"));
    for (const int repeated : {0, keys / 2, keys - 1}) CHECK_THROWS_AS(parse_json(object(keys, repeated), "x"), Error);
  }
  CHECK_THROWS_AS(parse_json(R"({"a":{"":1,"":2}})", "x"), Error);
  CHECK_THROWS_AS(parse_json(R"({"a":1,"b":{"a":1},"\u0061":2})", "x"), Error);
}

TEST_CASE("depth and size are limited without using the stack") {
  const auto nested = [](int n) {
    return std::string(static_cast<std::size_t>(n), '[') + std::string(static_cast<std::size_t>(n), ']');
  };
  CHECK_NOTHROW(parse_json(nested(32), "x"));
  CHECK_THROWS_WITH(parse_json(nested(33), "the request"),
                    Catch::Contains("the request") && Catch::Contains("deeper than 32"));
  CHECK_THROWS_AS(parse_json(std::string(1'000'000, '['), "x"), Error);
  CHECK_THROWS_AS(parse_json(std::string(1 << 20, ' ') + "[]", "x"), Error);
}

TEST_CASE("is_json_object looks at the whole text") {
  std::string why;
  CHECK(is_json_object(R"({"a":[1,{"b":null}]})"));
  CHECK_FALSE(is_json_object("[{}]", {}, &why));
  CHECK(why == "it is not a JSON object");
  CHECK_FALSE(is_json_object("{} {}", {}, &why));
  CHECK_FALSE(is_json_object("\"{}\"", {}, &why));
  CHECK_FALSE(is_json_object("{\"a\"}", {}, &why));
}

TEST_CASE("members are found only with the right type") {
  const auto d = parse_json(R"({"s":"x","n":5,"b":true,"f":1.5})", "x");
  CHECK(find_string(d, "s") == "x");
  CHECK_FALSE(find_string(d, "n"));
  CHECK(find_int(d, "n") == 5);
  CHECK_FALSE(find_int(d, "f"));
  CHECK(find_bool(d, "b") == true);
  CHECK_FALSE(find_member(d, "zz"));
  CHECK(json_string("a\"\n\x01") == "\"a\\\"\\n\\u0001\"");
}
