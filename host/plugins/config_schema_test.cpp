#include "host/plugins/config_schema.hpp"

#include <catch2/catch.hpp>

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
  CHECK(config_problem(kSchema, R"({"size":0})").find("\"minimum\" of its schema at /size") != std::string::npos);
  CHECK(config_problem(kSchema, R"({"list":["a",1]})").find("/list/1") != std::string::npos);
  CHECK(config_problem(kSchema, R"({"other":1})").find("additionalProperties") != std::string::npos);
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
