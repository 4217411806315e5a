#include "core/util/json_texts.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

Texts texts_of(std::string_view json) {
  Texts all;
  each_text(json, [&](std::string_view key, std::string_view text) { all.emplace_back(key, text); });
  return all;
}

}  // namespace

TEST_CASE("the texts of a document come with the name of what they are the value of") {
  CHECK(texts_of(R"({"a":"x","b":["y","z",{"c" : "w"}],"n":1,"d":{},"e":""})") ==
        Texts{{"a", "x"}, {"b", "y"}, {"b", "z"}, {"c", "w"}, {"e", ""}});
  CHECK(texts_of(R"("alone")") == Texts{{"", "alone"}});
  CHECK(texts_of("{}").empty());
}

TEST_CASE("escapes of a document's texts are read") {
  CHECK(texts_of(R"({"a":"q\"\\\/\n\t\r\b\f"})") == Texts{{"a", "q\"\\/\n\t\r\b\f"}});
  CHECK(texts_of(R"({"\u0061b":"\u0040\u00e4\u20ac\ud83d\ude00"})") == Texts{{"ab", "@ä€😀"}});
  CHECK(texts_of(R"({"a":"\ud83dx\udc00"})") == Texts{{"a", "\xef\xbf\xbdx\xef\xbf\xbd"}});
  CHECK(texts_of(R"(["\\","b"])") == Texts{{"", "\\"}, {"", "b"}});
}

}  // namespace KRUXOS_TEST_FILE
