#include "core/definition/json_schema.hpp"

#include <catch2/catch.hpp>

#include "core/definition/definition_loader.hpp"
#include "core/definition/input_check.hpp"
#include "core/definition/notes_definition.hpp"
#include "core/util/error.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

std::string why_not(const std::string& schema, const std::string& value) {
  return JsonSchema(schema).why_not(parse_json(value, "the value"));
}

bool fits(const std::string& schema, const std::string& value) {
  return why_not(schema, value).empty();
}

}  // namespace

TEST_CASE("a JSON Schema holds what each of its keywords says") {
  const struct {
    const char *schema, *good, *bad;
  } rows[] = {
      {R"({"type":"string"})", R"("a")", "1"},
      {R"({"type":["integer","null"]})", "null", "1.5"},
      {R"({"type":"integer"})", "2.0", R"("2")"},
      {R"({"type":"number"})", "1.5", "true"},
      {R"({"type":"object"})", "{}", "[]"},
      {R"({"const":{"a":[1]}})", R"({"a":[1]})", R"({"a":[2]})"},
      {R"({"enum":["a",1]})", "1", "2"},
      {R"({"minLength":2,"maxLength":3})", R"("äöü")", R"("a")"},
      {R"({"maxLength":1})", R"("ä")", R"("ab")"},
      {R"({"minItems":1,"maxItems":2})", "[1]", "[]"},
      {R"({"minimum":1,"maximum":2})", "2", "2.5"},
      {R"({"exclusiveMinimum":1,"exclusiveMaximum":2})", "1.5", "2"},
      {R"({"items":{"type":"string"}})", R"(["a"])", R"(["a",1])"},
      {R"({"properties":{"a":{"type":"string"}}})", R"({"b":1})", R"({"a":1})"},
      {R"({"properties":{"a":true},"additionalProperties":false})", R"({"a":1})", R"({"b":1})"},
      {R"({"properties":{"a":false}})", R"({"b":1})", R"({"a":1})"},
      {R"({"required":["a"]})", R"({"a":null})", "{}"},
      {R"({"dependentRequired":{"a":["b"]}})", R"({"a":1,"b":1})", R"({"a":1})"},
      {R"({"allOf":[{"required":["a"]},{"required":["b"]}]})", R"({"a":1,"b":1})", R"({"a":1})"},
      {R"({"anyOf":[{"required":["a"]},{"required":["b"]}]})", R"({"b":1})", "{}"},
      {R"({"oneOf":[{"required":["a"]},{"required":["b"]}]})", R"({"b":1})", R"({"a":1,"b":1})"},
      {R"({"not":{"required":["a"]}})", "{}", R"({"a":1})"},
      {R"({"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}})", R"({"a":1,"b":1})",
       R"({"a":1,"c":1})"},
      {R"({"if":{"required":["a"]},"else":{"required":["c"]}})", R"({"c":1})", "{}"},
      {R"({"$defs":{"w":{"type":"string"}},"items":{"$ref":"#/$defs/w"}})", R"(["a"])", "[1]"},
      {R"({"$defs":{"w":{"$anchor":"word","type":"string"}},"items":{"$ref":"#word","maxLength":1}})", R"(["a"])",
       R"(["ab"])"},
  };
  for (const auto& row : rows) {
    INFO(row.schema);
    CHECK(why_not(row.schema, row.good) == "");
    CHECK_FALSE(fits(row.schema, row.bad));
  }
}

TEST_CASE("what does not fit is named by its place") {
  CHECK(why_not(R"({"properties":{"to":{"items":{"type":"string"}}}})", R"({"to":["a",{}]})") ==
        R"("to[1]" must be of type string, not an object)");
  CHECK(why_not(R"({"anyOf":[{"required":["phone"]},{"required":["email"]}]})", "{}") ==
        R"(one of these must be otherwise: "phone" is missing; or "email" is missing)");
}

TEST_CASE("a schema that the host cannot check whole is refused") {
  const std::pair<std::string, const char*> rows[] = {
      {"[]", "an object"},
      {R"({"pattern":"a+"})", "does not check \"pattern\""},
      {R"({"items":{"$ref":"#/$defs/a"}})", "names nothing here"},
      {R"({"$ref":"https://example.com/schema"})", "names nothing here"},
      {R"({"$defs":{"a":{"items":{"$ref":"#/$defs/a"}}}})", "leads back to itself"},
      {R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"not":{"$ref":"#/$defs/a"}}}})", "leads back to itself"},
      {R"({"items":{"$defs":{"a":{}}}})", "at the top"},
      {R"({"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}})", "twice"},
      {R"({"type":"text"})", "no type"},
      {R"({"then":{}})", "beside an \"if\""},
      {R"({"required":"a"})", "list of texts"},
      {R"({"enum":[]})", "list of values"},
      {R"({"minLength":-1})", "whole number"},
      {R"({"allOf":[]})", "list of schemas"},
      {R"({"allOf":[1]})", "a schema is"},
      {R"({"properties":[]})", "is an object"},
  };
  for (const auto& [schema, why] : rows) {
    INFO(schema);
    CHECK_THROWS_WITH(JsonSchema(schema), Catch::Contains(why));
  }
  // Each names the one before twice: small to write, and a check of it would never end.
  std::string defs = R"("a0":{"type":"string"})";
  for (int i = 1; i < 40; ++i) {
    const auto before = R"({"$ref":"#/$defs/a)" + std::to_string(i - 1) + "\"}";
    defs += ",\"a" + std::to_string(i) + "\":{\"allOf\":[" + before + "," + before + "]}";
  }
  CHECK_THROWS_WITH(JsonSchema("{\"$defs\":{" + defs + "}}"), Catch::Contains("make it smaller"));
  std::string deep = "true";
  for (int i = 0; i < 30; ++i) deep = "{\"not\":" + deep + "}";
  CHECK_THROWS_AS(JsonSchema(deep), JsonSchema::Unfit);
}

TEST_CASE("a capability's schema holds of its arguments together, and stands beside its inputs") {
  const auto definition = [](const std::string& schema) {
    return parse_definition(test::kNotesHead + R"(  - name: notes.search
    kind: read
    tier: autonomous
    purpose: S.
    when_to_use: S.
    inputs:
      - {name: phone, type: String, description: P.}
      - {name: email, type: String, aliases: [mail], description: E.}
    schema: )" + schema + "\n",
                            "n");
  };
  const auto good = definition("{anyOf: [{required: [phone]}, {required: [email]}]}");
  const auto& search = good.capabilities.at(0);
  CHECK_NOTHROW(check_arguments(search, R"({"mail":"a@b"})"));
  CHECK_THROWS_WITH(check_arguments(search, "{}"),
                    "notes.search: one of these must be otherwise: \"phone\" is missing; or \"email\" is missing.");
  CHECK_THROWS_WITH(definition("{pattern: a}"), Catch::Contains("does not check"));
  CHECK_THROWS_WITH(definition("{required: [phone]}"), Catch::Contains("cannot stand at the top"));
  CHECK_THROWS_WITH(definition("{allOf: [{pattern: a}]}"), Catch::Contains("does not check"));
}

}  // namespace KRUXOS_TEST_FILE
