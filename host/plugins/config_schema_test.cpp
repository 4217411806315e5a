#include "host/plugins/config_schema.hpp"

#include <catch2/catch.hpp>

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {
constexpr char kSchema[] =
    R"({"type":"object","additionalProperties":false,"properties":{"size":{"type":"integer","minimum":1},"list":{"type":"array","items":{"type":"string"}}}})";
}

TEST_CASE("A configuration that fits its schema is accepted") {
  CHECK(config_problem(kSchema, "{}").empty());
  CHECK(config_problem(kSchema, R"({"size":3,"list":["a"]})").empty());
  CHECK(config_problem("", "{}").empty());
}

TEST_CASE("A configuration that does not fit is refused with the place and the rule") {
  CHECK(config_problem(kSchema, R"({"size":0})") ==
        "adapter.size: 0 does not fit: it must be a whole number, 1 or more.");
  CHECK(config_problem(kSchema, R"({"size":"x"})") ==
        "adapter.size: \"x\" does not fit: it must be a whole number, 1 or more.");
  CHECK(config_problem(kSchema, R"({"list":["a",1]})") == "adapter.list: list.1: 1 does not fit: it must be a text.");
  CHECK(config_problem(kSchema, R"({"szie":1})") ==
        "adapter.szie: the adapter has no setting \"szie\" (did you mean \"size\"?). Its settings are: size, list.");
  CHECK(find_config_problem(kSchema, R"({"szie":1})")->key == "szie");
  constexpr char schema[] =
      R"({"type":"object","required":["mode"],"properties":{"mode":{"enum":["fast","safe"]},"n":{"type":"integer","minimum":1,"maximum":9}}})";
  CHECK(config_problem(schema, "{}") == "the adapter needs the setting \"mode\".");
  CHECK(config_problem(schema, R"({"mode":"x"})") ==
        "adapter.mode: \"x\" does not fit: it must be one of \"fast\", \"safe\".");
  CHECK(config_problem(schema, R"({"mode":"fast","n":10})") ==
        "adapter.n: 10 does not fit: it must be a whole number from 1 to 9.");
  CHECK(config_problem(kSchema, "[]").find("not a JSON object") != std::string::npos);
  CHECK(config_problem(kSchema, "{").find("not valid JSON") != std::string::npos);
  CHECK(config_problem("", R"({"a":1})").find("takes no configuration") != std::string::npos);
}

TEST_CASE("A schema must be one JSON object") {
  CHECK(schema_problem("").empty());
  CHECK(schema_problem(kSchema).empty());
  CHECK_FALSE(schema_problem("[]").empty());
  CHECK_FALSE(schema_problem("{").empty());
  CHECK_FALSE(schema_problem(std::string(100'000, '[')).empty());
}

namespace {
void check_refused(const std::string& schema, const std::string& words) {
  INFO(schema.substr(0, 200));
  CHECK_THAT(schema_problem(schema), Catch::Contains(words));
}

/// `depth` schemas, each the items of the one around it.
std::string nested(int depth) {
  std::string schema = "{}";
  for (int i = 1; i < depth; ++i) schema = R"({"items":)" + schema + "}";
  return schema;
}
}  // namespace

TEST_CASE("A schema's rules that could cost the host much are refused with their name and place") {
  check_refused(R"({"$ref":"#"})",
                "config_schema uses \"$ref\", which the host does not take. The rules that it takes");
  check_refused(R"({"properties":{"a":{"items":{"pattern":"a{4000000000}"}}}})",
                "config_schema.properties.a.items uses \"pattern\"");
  check_refused(R"({"additionalProperties":{"patternProperties":{"(a{100000}){100000}":{}}}})",
                "config_schema.additionalProperties uses \"patternProperties\"");
  for (const auto* keyword : {"allOf", "anyOf", "oneOf", "not", "dependencies", "uniqueItems", "multipleOf",
                              "minProperties", "maxProperties", "additionalItems"}) {
    check_refused("{\"" + std::string(keyword) + "\":{}}", "uses \"" + std::string(keyword) + "\"");
  }
}

TEST_CASE("A schema's rules of later drafts are refused with their name and place, and not passed over") {
  for (const std::string keyword : {"const", "contains", "minContains", "maxContains", "propertyNames", "if", "then",
                                    "else", "dependentRequired", "dependentSchemas", "prefixItems",
                                    "unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"}) {
    check_refused(R"({"properties":{"a":{")" + keyword + R"(":{}}}})",
                  "config_schema.properties.a uses \"" + keyword + "\", which the host does not take");
  }
}

TEST_CASE("What is refused as a rule is a name like any other among properties, and in annotations") {
  constexpr char schema[] =
      R"({"title":"t","x-more":{"$ref":"#"},"default":{"$ref":"#"},"properties":{"$ref":{"type":"integer","format":"f"},"pattern":{"description":"d"}}})";
  CHECK(schema_problem(schema).empty());
  CHECK(config_problem(schema, R"({"$ref":1,"pattern":"a{4000000000}"})").empty());
  CHECK_THAT(config_problem(schema, R"({"$ref":"#"})"), Catch::Contains("must be a whole number"));
}

TEST_CASE("A schema has an end") {
  check_refused(R"({"title":")" + std::string(64 * 1024, 'a') + "\"}", "at most 65536 are allowed");
  for (const auto* rule : {R"("allOf":[{"$ref":"#"}])", R"("patternProperties":5)", R"("dependencies":{"a":[5]})"}) {
    check_refused(R"({"type":"object",)" + std::string(rule) + "}", "which the host does not take");
    // Where it was not examined, it does nothing.
    CHECK(config_problem(R"({"type":"object",)" + std::string(rule) + "}", R"({"a":1})").empty());
  }
}

TEST_CASE("A schema's rules have their form and their bounds") {
  check_refused(R"({"type":"any"})", "config_schema.type must be array, boolean, ");
  check_refused(R"({"type":[]})", "config_schema.type must be");
  check_refused(R"({"enum":[{}]})", "config_schema.enum must be a list of 1 to 256");
  check_refused(R"({"properties":{"a":1}})", "config_schema.properties.a must be a schema");
  check_refused(R"({"properties":{"a":{"minimum":"1"}}})", "config_schema.properties.a.minimum must be a number");
  check_refused(R"({"items":[{}]})", "config_schema.items must be one schema");
  check_refused(R"({"required":"a"})", "config_schema.required must be a list");
  check_refused(R"({"minLength":-1})", "config_schema.minLength must be a whole number");
  CHECK(schema_problem(nested(8)).empty());
  check_refused(nested(9), "nested too deeply: at most 8");
  std::string many = R"({"properties":{"p0":{})";
  for (int i = 1; i < 1000; ++i) many += ",\"p" + std::to_string(i) + "\":{}";
  check_refused(many + "}}", "too many parts");
}

TEST_CASE("Every rule that is taken is applied") {
  const auto fits = [](const char* rules, const char* value) {
    INFO(rules << ' ' << value);
    const auto schema = R"({"properties":{"v":)" + std::string(rules) + "}}";
    REQUIRE(schema_problem(schema) == "");
    return config_problem(schema, R"({"v":)" + std::string(value) + "}").empty();
  };
  CHECK(fits(R"({"type":["string","null"]})", "null"));
  CHECK_FALSE(fits(R"({"type":["string","null"]})", "1"));
  CHECK_FALSE(fits(R"({"type":"integer"})", "1.5"));
  CHECK(fits(R"({"type":"number"})", "1.5"));
  CHECK_FALSE(fits(R"({"type":"boolean"})", "0"));
  CHECK_FALSE(fits(R"({"type":"object"})", "[]"));
  CHECK(fits(R"({"enum":[1,"a",true,null]})", "1.0"));
  CHECK(fits(R"({"enum":[1,"a",true,null]})", "null"));
  CHECK_FALSE(fits(R"({"enum":[1,"a",true,null]})", "false"));
  CHECK(fits(R"({"maximum":18446744073709551615})", "18446744073709551615"));
  CHECK_FALSE(fits(R"({"maximum":9223372036854775806})", "9223372036854775807"));
  CHECK_FALSE(fits(R"({"minimum":-1})", "-2"));
  CHECK(fits(R"({"minimum":1})", "1"));
  CHECK_FALSE(fits(R"({"minimum":1,"exclusiveMinimum":true})", "1"));
  CHECK_FALSE(fits(R"({"maximum":1,"exclusiveMaximum":true})", "1"));
  CHECK(fits(R"({"minLength":2,"maxLength":2})", R"("äö")"));
  CHECK_FALSE(fits(R"({"maxLength":2})", R"("abc")"));
  CHECK_FALSE(fits(R"({"minItems":1})", "[]"));
  CHECK_FALSE(fits(R"({"maxItems":1})", "[1,2]"));
  CHECK_FALSE(fits(R"({"additionalProperties":{"type":"integer"}})", R"({"a":"x"})"));
  CHECK_FALSE(fits(R"({"required":["a"]})", R"({"b":1})"));
}

TEST_CASE("A list's and a text's size is said in words") {
  constexpr char schema[] =
      R"({"properties":{"name":{"type":"string","minLength":2,"maxLength":3},"list":{"type":"array","maxItems":2}}})";
  CHECK(config_problem(schema, R"({"name":"a"})") ==
        "adapter.name: \"a\" does not fit: it must be a text from 2 to 3 characters.");
  CHECK(config_problem(schema, R"({"list":[1,2,3]})") ==
        "adapter.list: [1,2,3] does not fit: it must be a list, 2 entries or less.");
}

}  // namespace KRUXOS_TEST_FILE
