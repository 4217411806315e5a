#include "query.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace slack;

namespace {

std::string refused(const char* query) {
  try {
    words_condition(query);
  } catch (const kruxos::ProxyError& error) {
    CHECK(error.type() == "InvalidInput");
    return error.what();
  }
  return {};
}

std::vector<std::string> texts(const char* query) {
  const auto condition = words_condition(query);
  std::vector<std::string> out;
  if (condition.children.empty()) return {condition.text};
  for (const auto& child : condition.children) out.push_back(child.text);
  return out;
}

}  // namespace

TEST_CASE("quotation marks of every kind make a phrase") {
  const std::vector<std::string> phrase = {"release train", "now"};
  for (const char* query : {"\"release train\" now", "\u201Crelease train\u201D now", "\u201Erelease train\u201C now",
                            "\u00AB release train \u00BB now", "\u201Crelease train\" now"}) {
    INFO(query);
    CHECK(texts(query) == phrase);
  }
  for (const char* bad : {"\u201Crelease", "\u201C\u201D", "now \u00AB"}) {
    INFO(bad);
    CHECK_THAT(refused(bad), Catch::Contains("quotation"));
  }
}

TEST_CASE("an operator of other searches is refused with what to do") {
  using Catch::Contains;
  CHECK_THAT(refused("holiday AROUND 10 vacation"), Contains("no AROUND"));
  CHECK_THAT(refused("+unicorn"), Contains("Leave the + out"));
  CHECK_THAT(refused("tea OR coffee"), Contains("no OR"));
  CHECK_THAT(refused("from:amy"), Contains("input user"));
  CHECK_THAT(refused("in:#general plan"), Contains("input channel"));
  CHECK_THAT(refused("before:2026-01-01"), Contains("input to_date"));
  // As words, and in quotation marks, they are looked for.
  for (const char* words : {"\"+unicorn\"", "\"tea OR coffee\"", "\"from:amy\"", "+1", "1+1", "c++", "or", "around 10",
                            "AROUND town", "from: amy", "from", "+", "http://x.test"}) {
    INFO(words);
    CHECK(refused(words).empty());
  }
}

}  // namespace KRUXOS_TEST_FILE
