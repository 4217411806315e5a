#include "core/util/json.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <limits>

#include "core/util/error.hpp"
#include "support/control_texts.hpp"

namespace KRUXOS_TEST_FILE {

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

TEST_CASE("each control character is written as JSON wants it, wherever it stands") {
  const auto by_writer = [](std::string_view text) {
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
    return std::string(buffer.GetString(), buffer.GetSize());
  };
  const auto value = [](std::string_view text) {
    return JsonValue(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  };
  CHECK(test::control_problem(by_writer) == "");
  CHECK(test::control_problem([](std::string_view text) { return json_string(text); }) == "");
  CHECK(test::control_problem([&](std::string_view text) { return to_json(value(text)); }) == "");
  CHECK(test::control_problem([&](std::string_view text) { return canonical_json(value(text)); }) == "");
}

TEST_CASE("what services spell and texts cannot hold becomes U+FFFD, or is kept for who refuses it by field") {
  const std::string text = R"({"a":"x\u0000y","b":["\ud800","\uDfff z","\ud83d\ude00","\\u0000"],"\ud800":1})";
  const auto replaced = parse_json(text, "x", {1 << 20, 32, OddText::kReplaced});
  CHECK(to_json(replaced) ==
        "{\"a\":\"x\uFFFDy\",\"b\":[\"\uFFFD\",\"\uFFFD z\",\"\U0001F600\",\"\\\\u0000\"],\"\uFFFD\":1}");
  auto json = text;
  CHECK(replace_odd_escapes(json) == 4);
  CHECK(json.size() == text.size());
  CHECK(to_json(parse_json(json, "x")) == to_json(replaced));
  CHECK(replace_odd_escapes(json) == 0);

  const auto kept = parse_json(text, "x", {1 << 20, 32, OddText::kKept});
  CHECK(find_odd_text(kept, "it")->where == "it.a");
  CHECK_THAT(find_odd_text(kept, "it")->why, Catch::Contains("U+0000"));
  CHECK(find_odd_text(kept["b"], "it")->where == "it[0]");
  CHECK_THAT(find_odd_text(kept["b"], "it")->why, Catch::Contains("surrogate"));
  CHECK_FALSE(find_odd_text(kept["b"][2], "it"));
  CHECK_FALSE(find_odd_text(parse_json(R"({"a":[1,true,null,{"b":"\u001b"}]})", "x"), "it"));
  CHECK_THAT(find_odd_text(parse_json(R"({"k\u0000":1})", "x", {1 << 20, 32, OddText::kKept}), "it")->where,
             Catch::Contains("it.k\\x00"));

  for (const char* cut :
       {R"("\)", R"("\u)", R"("\ud8)", R"("\ud800\)", R"("\ud800\u00)", R"("\u000g")", R"("\ud800)"}) {
    std::string broken = cut;
    replace_odd_escapes(broken);
    CHECK(broken.size() == std::string_view(cut).size());
    CHECK_THROWS_AS(parse_json(cut, "x", {1 << 20, 32, OddText::kReplaced}), Error);
    CHECK_THROWS_AS(parse_json(cut, "x", {1 << 20, 32, OddText::kKept}), Error);
  }
  for (const auto odd : {OddText::kReplaced, OddText::kKept}) {
    CHECK_THROWS_AS(parse_json("[\"\xed\xa0\x80\"]", "x", {1 << 20, 32, odd}), Error);
    CHECK_THROWS_AS(parse_json(R"({"a":1,"\u0061":2})", "x", {1 << 20, 32, odd}), Error);
  }
}
TEST_CASE("a number is read exactly and safely, however it is written") {
  const auto number = [](const std::string& text) { return parse_json(text, "x").GetDouble(); };
  for (const auto zeroes : {1, 20, 300, 322, 340, 800, 100'000}) {
    const auto text = "0." + std::string(static_cast<std::size_t>(zeroes), '0') + "1";
    CHECK(number(text) == std::strtod(text.c_str(), nullptr));
    CHECK(number("-" + text + "e5") == std::strtod(("-" + text + "e5").c_str(), nullptr));
  }
  for (const std::string text :
       {"1e-400", "1e-99999999999", "0.0000000001e-2147483639", "4.9e-324", "2.5e-324", "1.7976931348623157e308", "0.1",
        "1e22", "123456789012345678901234567890", "9007199254740993.0", "0e99", "1E5", "1e+5"}) {
    CHECK(number(text) == std::strtod(text.c_str(), nullptr));
  }
  const auto digits = std::string(900, '7');
  CHECK(number("0." + digits) == std::strtod(("0." + digits).c_str(), nullptr));
  for (const std::string text : {"1e309", "1.8e308", "-1.8e308", digits.c_str(), "1e99999999999"}) {
    CHECK_THROWS_AS(parse_json(text, "x"), Error);
  }
  CHECK(parse_json("-9223372036854775808", "x").GetInt64() == std::numeric_limits<std::int64_t>::min());
  CHECK(parse_json("18446744073709551615", "x").GetUint64() == std::numeric_limits<std::uint64_t>::max());
  CHECK(parse_json("7", "x").IsInt());
  CHECK_FALSE(parse_json("7.0", "x").IsInt());
}

/// A key that is half as long as a message may be, around as many values as the other half has room for.
TEST_CASE("looking for odd text takes a time in proportion, whatever the keys around it") {
  std::string values = "0";
  for (int i = 0; i < 150'000; ++i) values += ",[]";
  const auto value = parse_json("{\"" + std::string(500'000, 'k') + "\":[" + values + "]}", "x");
  const auto begun = std::chrono::steady_clock::now();
  CHECK_FALSE(find_odd_text(value, "it"));
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(2));
}

}  // namespace KRUXOS_TEST_FILE
