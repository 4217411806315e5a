#include "core/util/json_out.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

TEST_CASE("texts that are no UTF-8 become printable, all others stay as they are") {
  const std::string bad = "caf\xe9 \x1b[31m";
  const auto text = json_object([&](JsonWriter& out) {
    put(out, "text", bad);
    put(out, "chars", bad.c_str());
    put(out, "texts", std::vector<std::string>{"fine", bad});
    put(out, "nul", std::string_view("a\0b", 3));
    put(out, "good", "caf\xc3\xa9 \x1b[31m\n");
  });
  const auto json = parse_json(text, "it");
  const std::string shown = "caf\\xe9 \\x1b[31m";
  CHECK(*find_string(json, "text") == shown);
  CHECK(*find_string(json, "chars") == shown);
  CHECK(view((*find_member(json, "texts"))[0]) == "fine");
  CHECK(view((*find_member(json, "texts"))[1]) == shown);
  CHECK(*find_string(json, "nul") == "a\\x00b");
  CHECK(*find_string(json, "good") == "caf\xc3\xa9 \x1b[31m\n");
}

}  // namespace KRUXOS_TEST_FILE
