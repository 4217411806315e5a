#include "core/util/json_check.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/json.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace std::string_literals;

namespace {

/// By the parser, which decides.
bool is_object(const std::string& text, const JsonLimits& limits) {
  try {
    return parse_json(text, "it", limits).IsObject();
  } catch (const Error&) {
    return false;
  }
}

const std::vector<std::string> kObjects{
    R"({})",
    R"( {"a" : 1 , "b":[ ], "c":{ } } )",
    R"({"id":"C1/1763904620.000000","text":"hello \"you\" \\ \/ \b\f\n\r\t \u00e9\u4e2d","n":-0.25,"at":1763904620000})",
    R"({"messages":[{"a":1,"b":null},{"a":2,"b":true},{"b":false,"a":[[],[1,2,[3]]]}],"total":12})",
    "{\"m\":\"gr\xc3\xbc\xc3\x9f \xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x98\x80\",\"\xc3\xa4\":\"\x7f\"}",
    R"({"a":"0123456","b":"01234567","c":"012345678","d":"0123456789012345"})",
};

}  // namespace

TEST_CASE("What adapters usually give is told quickly") {
  for (const auto& text : kObjects) {
    CAPTURE(text);
    CHECK(is_plain_json_object(text, {}));
    CHECK(is_object(text, {}));
  }
}

TEST_CASE("What is no JSON object, and what is rare, is not taken quickly") {
  const std::string nul("{\"a\":\"\0\"}", 9);
  for (const std::string text : {"",
                                 " ",
                                 "[]",
                                 "1",
                                 "{",
                                 "}",
                                 "{}{}",
                                 "{} x",
                                 "{,}",
                                 R"({"a":1,})",
                                 R"({,"a":1})",
                                 R"({"a"})",
                                 R"({"a":})",
                                 R"({"a" 1})",
                                 R"({"a":1 "b":2})",
                                 R"({a:1})",
                                 R"({"a":[1,]})",
                                 R"({"a":[,1]})",
                                 R"({"a":[1 2]})",
                                 R"({"a":[1})",
                                 R"({"a":01})",
                                 R"({"a":-})",
                                 R"({"a":1.})",
                                 R"({"a":.5})",
                                 R"({"a":+1})",
                                 R"({"a":tru})",
                                 R"({"a":nul})",
                                 R"({"a":1,"a":2})",
                                 R"({"a":"\u0000"})",
                                 R"({"a":"\ud800"})",
                                 R"({"a":"\x"})",
                                 R"({"a":"\u12g4"})",
                                 R"({"a":"\)",
                                 R"({"a":"\u12)",
                                 "{\"a\":\"\n\"}",
                                 "{\"a\":\"\x1f\"}",
                                 "{\"a\":\"\xc0\x80\"}",
                                 "{\"a\":\"\xed\xa0\x80\"}",
                                 "{\"a\":\"\xe0\x80\x80\"}",
                                 "{\"a\":\"\xf4\x90\x80\x80\"}",
                                 "{\"a\":\"\xff\"}",
                                 "{\"a\":\"\xc3\"}",
                                 "{\"a\":\"\xe4\xb8",
                                 R"({"a":1e5})",
                                 R"({"\u0061":1})",
                                 R"({"a":12345678901234567})"}) {
    CAPTURE(text);
    CHECK_FALSE(is_plain_json_object(text, {}));
  }
  CHECK_FALSE(is_plain_json_object(nul, {}));
}

TEST_CASE("The limits hold for what is told quickly") {
  JsonLimits limits;
  limits.max_depth = 3;
  CHECK(is_plain_json_object(R"({"a":{"b":[1]}})", limits));
  CHECK_FALSE(is_plain_json_object(R"({"a":{"b":[[1]]}})", limits));
  limits.max_keys = 2;
  CHECK(is_plain_json_object(R"({"a":1,"b":{"a":1,"b":2}})", limits));
  CHECK_FALSE(is_plain_json_object(R"({"a":1,"b":2,"c":3})", limits));
  limits.max_bytes = 10;
  CHECK(is_plain_json_object(R"({"a":1234})", limits));
  CHECK_FALSE(is_plain_json_object(R"({"a":12345})", limits));
}

TEST_CASE("Deep and wide objects are left to the parser, which takes them") {
  JsonLimits limits;
  limits.max_depth = 200;
  const std::string deep = R"({"a":)" + std::string(100, '[') + std::string(100, ']') + "}";
  CHECK_FALSE(is_plain_json_object(deep, limits));
  CHECK(is_json_object(deep, limits));
  std::string wide = "{";
  for (int i = 0; i < 300; ++i) wide += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":0";
  wide += "}";
  CHECK_FALSE(is_plain_json_object(wide, {}));
  CHECK(is_json_object(wide));
  wide.insert(wide.size() - 1, ",\"k7\":1");
  CHECK_FALSE(is_json_object(wide));
}

TEST_CASE("What is told quickly is what the parser takes, whatever is changed in it") {
  std::mt19937 random(20261124);
  const auto any = [&](std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random); };
  const auto bytes = "{}[]\",:\\u0019aeEtfn-+. \t\n\x1f\x7f\x80\xc3\xa4\xe4\xb8\xad\xed\xf0\x9f\xff\0"s;
  JsonLimits limits;
  limits.max_depth = 6;
  std::size_t quickly = 0;
  for (int round = 0; round < 60'000; ++round) {
    auto text = kObjects[any(kObjects.size())];
    for (auto changes = any(4); changes > 0; --changes) {
      const auto at = any(text.size());
      switch (any(4)) {
        case 0:
          text[at] = bytes[any(bytes.size())];
          break;
        case 1:
          text.insert(at, 1, bytes[any(bytes.size())]);
          break;
        case 2:
          text.erase(at, 1 + any(3));
          break;
        default:
          text.insert(at, text.substr(any(text.size()), any(12)));
      }
      if (text.empty()) text = "{}";
    }
    if (!is_plain_json_object(text, limits)) continue;
    ++quickly;
    CAPTURE(text);
    REQUIRE(is_object(text, limits));
  }
  CHECK(quickly > 15'000);
}

}  // namespace KRUXOS_TEST_FILE
