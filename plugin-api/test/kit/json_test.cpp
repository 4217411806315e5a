#include <kruxos/kit/json.hpp>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <limits>

#include "support/control_texts.hpp"

namespace KRUXOS_TEST_FILE {

using namespace kruxos::kit;

namespace {

bool is_json(const std::string& text) {
  return !parse(text).HasParseError();
}

/// The text as a member's value, at each place within eight bytes: checking looks at eight at once.
bool is_value(const std::string& value) {
  bool all = true, any = false;
  for (std::size_t blanks = 0; blanks < 9; ++blanks) {
    const bool is = is_json(std::string(blanks, ' ') + "{\"a\":\"" + value + "\"}");
    all = all && is;
    any = any || is;
  }
  CHECK(all == any);
  return all;
}

}  // namespace

TEST_CASE("a value of JSON is read whole, with or without a mark before it") {
  CHECK(text_of(parse(R"({"a":"one"})"), "a") == "one");
  CHECK(text_of(parse("\xEF\xBB\xBF{\"a\":\"one\"}"), "a") == "one");
  CHECK(text_of(parse("{\"a\":\"" + std::string(5000, 'x') + "\\n\"}"), "a") == std::string(5000, 'x') + "\n");
  CHECK(text_of(parse(R"({"a":"\u00e4\ud83d\ude00"})"), "a") == "\xC3\xA4\xF0\x9F\x98\x80");
  for (const char* broken :
       {"", " ", "{", "{}{}", "{} x", R"({"a":"\ud83"})", "{\"a\":\"\n\"}", "nul", "\xEF\xBB\xBF"}) {
    INFO(broken);
    CHECK_FALSE(is_json(broken));
  }
}

TEST_CASE("only UTF-8 without NUL is read") {
  for (const char* good : {"\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "\x7F"}) {
    CHECK(is_value(good));
  }
  for (const char* bad :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2x", "\xE0\x9F\x80", "\xE2\x82", "\xED\xA0\x80",
        "\xF0\x8F\x80\x80", "\xF0\x9F\x98", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    CHECK_FALSE(is_value(bad));
  }
  CHECK_FALSE(is_value(std::string(1, '\0')));
  CHECK_FALSE(is_json(std::string("{}\0", 3)));
  CHECK_FALSE(is_json("{\"a\":\"\xC3"));
}

TEST_CASE("a number is read, however it is written") {
  for (const std::string text :
       {"0.0000000001e-2147483639", "1e-400", "0.1", "-2.5e3", "123456789012345678901234567890"}) {
    INFO(text);
    const auto json = parse(text);
    REQUIRE(json.IsDouble());
    CHECK(json.GetDouble() == std::strtod(text.c_str(), nullptr));
  }
  CHECK(parse("-9223372036854775808").GetInt64() == std::numeric_limits<std::int64_t>::min());
  CHECK(parse("18446744073709551615").GetUint64() == std::numeric_limits<std::uint64_t>::max());
  CHECK(parse("7").IsInt());
  for (const char* text : {"1e400", "1.8e308", "01", "1.", "-", "1e"}) CHECK(parse(text).HasParseError());
}

TEST_CASE("nesting is bounded, the number of values is not") {
  const auto nested = [](int depth) {
    const auto size = static_cast<std::size_t>(depth);
    return std::string(size, '[') + std::string(size, ']');
  };
  CHECK(is_json(nested(kruxos::kit::kDeepest)));
  CHECK_FALSE(is_json(nested(kruxos::kit::kDeepest + 1)));
  std::string many = "[";
  for (int i = 0; i < 1000; ++i) many += R"({"[":"{["},)";
  CHECK(is_json(many + "[]]"));
  CHECK_FALSE(is_json(std::string(5'000'000, '{')));
}

TEST_CASE("each control character is written as JSON wants it, wherever it stands") {
  const auto by_object = [](std::string_view text) {
    kruxos::kit::ObjectWriter writer;
    const auto whole = writer.text("a", text).done();
    return whole.substr(5, whole.size() - 6);
  };
  CHECK(krux::test::control_problem([](std::string_view text) { return kruxos::kit::quoted(text); }) == "");
  CHECK(krux::test::control_problem(by_object) == "");
}

TEST_CASE("a control character that stands raw in a text is no JSON, wherever it stands") {
  for (char c = 0; c < 0x20; ++c) {
    for (const std::size_t before : {0, 1, 15, 16, 17, 40}) {
      for (const std::size_t behind : {0, 1, 15, 16, 17, 40}) {
        CAPTURE(int{c}, before, behind);
        CHECK_FALSE(is_json("{\"a\":\"" + std::string(before, 'a') + c + std::string(behind, 'b') + "\"}"));
      }
    }
  }
}

TEST_CASE("half of a surrogate pair is read as U+FFFD, and a NUL as one") {
  const std::string unknown = "\xEF\xBF\xBD";
  for (const auto& [json, text] :
       std::vector<std::pair<std::string, std::string>>{{R"(a \ud800 b)", "a " + unknown + " b"},
                                                        {R"(\uDFFF)", unknown},
                                                        {R"(\ud800\ud800\udc00)", unknown + "\xF0\x90\x80\x80"},
                                                        {R"(\ud83d\n)", unknown + "\n"},
                                                        {R"(\ud83d\u0041)", unknown + "A"},
                                                        {R"(\\ud800)", "\\ud800"},
                                                        {R"(\ud83d\ude00)", "\xF0\x9F\x98\x80"},
                                                        {R"(a\u0000b)", std::string("a\0b", 3)}}) {
    INFO(json);
    const auto document = parse("{\"a\":\"" + json + "\",\"b\":\"behind\"}");
    REQUIRE_FALSE(document.HasParseError());
    CHECK(text_of(document, "a") == text);
    CHECK(text_of(document, "b") == "behind");
  }
  for (const char* cut : {R"("\ud8)", R"("\ud800\u)", R"("\ud800)", R"("\)"}) CHECK_FALSE(is_json(cut));
}

TEST_CASE("a text outlives the document that it was taken out of on the fly") {
  const auto text = text_of(parse(R"({"a":")" + std::string(100, 'x') + "\"}"), "a");
  CHECK(text == std::string(100, 'x'));
}

TEST_CASE("what is of another type than promised is as if it were missing") {
  const auto json = parse(R"({"text":"t","number":7,"objects":[{},{}],"mixed":["a",1,{},"b"],"yes":true})");
  CHECK(text_of(json, "number", "none") == "none");
  CHECK(integer_of(json, "text", -1) == -1);
  CHECK(integer_of(json, "number") == 7);
  CHECK(flag_of(json, "yes"));
  CHECK_FALSE(flag_of(json, "number"));
  CHECK(array_of(json, "mixed"));
  CHECK_FALSE(array_of(json, "text"));
  CHECK(objects_of(json, "objects"));
  CHECK_FALSE(objects_of(json, "mixed"));
  CHECK_FALSE(objects_of(json, "missing"));
  CHECK(texts_of(json, "mixed") == std::vector<std::string>{"a", "b"});
  CHECK(texts_of(json, "text").empty());
  CHECK(text_of(*member(json, "mixed"), "a") == "");
}

TEST_CASE("an object is asked for with the sentence of its failure") {
  CHECK(integer_of(parse_object(R"({"a":1})", "never"), "a") == 1);
  for (const char* text : {"", "[]", "7", "{"}) {
    try {
      parse_object(text, "The service's answer is no object.");
      FAIL(text);
    } catch (const kruxos::ProxyError& error) {
      CHECK(error.kind() == kruxos::ErrorKind::kUnavailable);
      CHECK(error.what() == std::string("The service's answer is no object."));
    }
  }
}

TEST_CASE("arrays are written with what they hold") {
  CHECK(ArrayWriter().done() == "[]");
  CHECK(ArrayWriter().text("a\"").raw("{}").done() == R"(["a\"",{}])");
  CHECK(quoted_list({"a", "b"}) == R"(["a","b"])");
}

TEST_CASE("a member is found by a path, and a whole number becomes a text") {
  const auto json =
      parse(R"({"a":{"b":{"c":7}},"text":"x","large":18446744073709551615,"real":1.5,"at":"2026-11-21T09:30:00Z"})");
  CHECK(digits_of(*member_at(json, "a.b.c")) == "7");
  CHECK(member_at(json, "") == static_cast<const Json*>(&json));
  for (const char* none : {"b", "a.c", "a.b.c.d", "text.b", "."}) CHECK_FALSE(member_at(json, none));
  CHECK(digits_of(json, "large") == "18446744073709551615");
  for (const char* none : {"a", "text", "real", "gone"}) CHECK(digits_of(json, none).empty());
  CHECK(moment_of(json, "at") == 1'795'253'400'000);
  CHECK(moment_of(json, "text", -1) == -1);
  CHECK(json_text(json["a"]) == R"({"b":{"c":7}})");
}

}  // namespace KRUXOS_TEST_FILE
