#include "host/plugins/mock_script.hpp"

#include <catch2/catch.hpp>

#include "core/definition/definition_loader.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;

namespace {

constexpr const char* kDefinition = R"(schema: 1
service: notes
display_name: Notes
description: A service of a test.
version: 1.0.0
adapter: {min_version: 1.0.0, below_version: 2.0.0}
api_base_url: https://api.notes.example/
connect: {scopes: [items], token_pattern: "m-[a-z]+", help: "Any token."}
capabilities:
  - {name: notes.find, kind: read, tier: autonomous, purpose: Find., when_to_use: Often.,
     inputs: [{name: query, type: String, description: What.}],
     outputs: [{name: notes, type: Array, description: All., items: {type: Object, fields: [{name: id, type: String}]}},
               {name: total, type: Integer, description: How many.}, {name: more, type: Boolean, description: More.}]}
  - {name: notes.add, kind: write, tier: notify, purpose: Add., when_to_use: Often., delay: 30 s,
     inputs: [{name: text, type: String, description: What.}]}
)";

std::string problem(const std::string& script) {
  static const auto definition = parse_definition(kDefinition, "notes.yaml");
  return script_text_problem(script, "notes.mock.json", definition);
}

}  // namespace

TEST_CASE("a mock's script that fits its definition is taken") {
  for (const auto* fits : {"nonsense", "[]", "{}", R"({"service": "notes", "rules": [
        {"call": "verify", "error": {"status": "auth"}},
        {"call": "read", "operation": "notes.find", "when": {"query": "x"},
         "answer": {"notes": [{"id": "1", "more": 2}], "total": 1}},
        {"call": "read", "answer": {"anything": 1}},
        {"call": "read", "operation": "notes.find", "raw": "no JSON"},
        {"call": "resolve", "operation": "notes.add", "answer": {"text": "a", "text_id": "7"}},
        {"call": "execute_write", "operation": "notes.add", "when": {"text": "a", "text_id": "7"}, "answer": 1}],
        "undoable": ["notes.add"]})"}) {
    INFO(fits);
    CHECK(problem(fits).empty());
  }
}

TEST_CASE("a mock's script that contradicts its definition is refused with its line") {
  const std::vector<std::pair<std::string, std::string>> rows{
      {R"({"call": "read", "operation": "notes.serch"})", "has no read \"notes.serch\""},
      {R"({"call": "read", "operation": "notes.add"})", "has no read \"notes.add\""},
      {R"({"call": "execute_write", "operation": "notes.ad"})",
       "has no write \"notes.ad\" (did you mean \"notes.add\"?)"},
      {R"({"call": "resolve", "operation": "x"})", "has no capability \"x\""},
      {R"({"call": "execute_write", "operation": "notes.add", "when": {"txt": "a"}})",
       "notes.add takes no \"txt\" (did you mean \"text\"?)"},
      {R"({"call": "execute_write", "when": {"query": "a"}})", "takes no \"query\""},
      {R"({"call": "read", "operation": "notes.find", "answer": []})", "must be an object"},
      {R"({"call": "read", "operation": "notes.find", "answer": {"notes": [], "total": 0, "Total": 1}})",
       "promises no \"Total\""},
      {R"({"call": "read", "operation": "notes.find", "answer": {"notes": []}})", "lacks \"total\""},
      {R"({"call": "read", "operation": "notes.find", "answer": {"notes": {}, "total": 0}})",
       "\"notes\" in the result"},
      {R"({"call": "read", "operation": "notes.find", "answer": {"notes": [{"id": 1}], "total": 0}})",
       "\"notes[0].id\" in the result is no String"}};
  for (const auto& [rule, why] : rows) {
    INFO(rule);
    const auto said = problem(
        "{\"service\": \"notes\",\n \"records\": [{\"rules\": [{}]}],\n \"rules\": [\n  {\"call\": \"verify\"},\n  " +
        rule + "\n]}");
    CHECK_THAT(said, Catch::StartsWith("notes.mock.json:5: ") && Catch::Contains(why));
  }
  CHECK_THAT(problem(R"({"undoable": ["notes.find"]})"),
             Catch::Contains("\"undoable\"") && Catch::Contains("no write"));
}

}  // namespace KRUXOS_TEST_FILE
