#include "json.hpp"

#include <catch2/catch.hpp>

using service_json::parse;
using service_json::text_of;

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
       {"", " ", "{", "{}{}", "{} x", R"({"a":"\ud83d"})", "{\"a\":\"\n\"}", "nul", "\xEF\xBB\xBF"}) {
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

TEST_CASE("nesting is bounded, the number of values is not") {
  const auto nested = [](int depth) {
    const auto size = static_cast<std::size_t>(depth);
    return std::string(size, '[') + std::string(size, ']');
  };
  CHECK(is_json(nested(service_json::kDeepest)));
  CHECK_FALSE(is_json(nested(service_json::kDeepest + 1)));
  std::string many = "[";
  for (int i = 0; i < 1000; ++i) many += R"({"[":"{["},)";
  CHECK(is_json(many + "[]]"));
  CHECK_FALSE(is_json(std::string(5'000'000, '{')));
}
