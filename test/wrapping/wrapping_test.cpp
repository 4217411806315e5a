#include <catch2/catch.hpp>

#include "core/definition/definition_loader.hpp"
#include "mcp/definition_text.hpp"
#include "mcp/inputs.hpp"
#include "mcp/names.hpp"
#include "mcp/text.hpp"

namespace KRUXOS_TEST_FILE {

using Catch::Contains;
using namespace mcp;

namespace {

Tool tool(const std::string& json) {
  const auto document = kruxos::kit::parse(json);
  return read_tool(document);
}

Tool with_schema(const std::string& schema) {
  return tool(R"({"name":"t","inputSchema":)" + schema + "}");
}

Plan plan_of(const std::string& service) {
  Plan plan;
  plan.service = service;
  plan.display_name = "Tracker";
  plan.url = "https://mcp.tracker.example/v1/mcp";
  return plan;
}

const std::string kCreate =
    R"({"name":"createIssue","title":"Create","description":"Create an issue.\nIt is seen by all.",
  "inputSchema":{"type":"object","properties":{
    "teamId":{"type":"string","minLength":1,"description":"The team."},
    "title":{"type":"string","maxLength":200},
    "priority":{"type":"integer","minimum":0,"maximum":4},
    "estimate":{"anyOf":[{"type":"number"},{"type":"null"}],"default":null},
    "state":{"type":"string","enum":["open","closed"]},
    "labels":{"type":"array","items":{"type":"string"},"maxItems":10},
    "send_at":{"type":"string"},
    "draft":{"type":"boolean"},
    "extra":{"type":"object"}},"required":["teamId","title"]},
  "annotations":{"destructiveHint":false,"idempotentHint":true}})";

}  // namespace

TEST_CASE("names are those that definitions take, and read as the server's") {
  CHECK(plain_name("create_issue", 30) == "create_issue");
  CHECK(plain_name("createIssue", 30) == "create_issue");
  CHECK(plain_name("create-issue", 30) == "create_issue");
  CHECK(plain_name("getHTTPServer2Name", 30) == "get_http_server2_name");
  CHECK(plain_name("repos/list.all", 30) == "repos_list_all");
  const auto odd = plain_name("größe", 30), digit = plain_name("2fa", 30), none = plain_name("", 30);
  CHECK_THAT(odd, Catch::Matches("gr_e_[0-9a-f]{6}"));
  CHECK_THAT(digit, Catch::Matches("x_2fa_[0-9a-f]{6}"));
  CHECK_THAT(none, Catch::Matches("x_[0-9a-f]{6}"));
  const auto one = plain_name(std::string(60, 'a') + "1", 30), other = plain_name(std::string(60, 'a') + "2", 30);
  CHECK(one.size() == 30);
  CHECK(one != other);
  CHECK(one == plain_name(std::string(60, 'a') + "1", 30));
}

TEST_CASE("a tool is pinned by all that it says, in whatever order") {
  const auto one =
      tool(R"({"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}})");
  CHECK(one.pin.size() == 64);
  CHECK(tool(R"({"inputSchema":{"properties":{"x":{"type":"string"}},"type":"object"},"description":"d","name":"a"})")
            .pin == one.pin);
  CHECK(
      tool(
          R"({"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}},"_meta":{"n":1}})")
          .pin == one.pin);
  for (
      const char* changed :
      {R"({"name":"a","description":"D","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}})",
       R"({"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{"type":"integer"}}}})",
       R"({"name":"a","description":"d","title":"","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}})",
       R"({"name":"a","description":"d","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}})"})
    CHECK(tool(changed).pin != one.pin);
  CHECK_THROWS_WITH(tool(R"({"name":"","inputSchema":{}})"), Contains("no name"));
  CHECK_THROWS_WITH(tool(R"({"name":"a"})"), Contains("no inputSchema"));
}

TEST_CASE("what cannot be told input by input is one object") {
  CHECK_FALSE(inputs_of(with_schema(R"({"anyOf":[{"type":"object"}]})")));
  for (const char* nowhere : {"#/$defs/Y", "#/$defs/X", "https://x.example/schema", "#", "#/properties/x"})
    CHECK_FALSE(inputs_of(with_schema(R"({"type":"object","properties":{"x":{"$ref":")" + std::string(nowhere) +
                                      R"("}},"$defs":{"X":{"$ref":"#/$defs/X"}}})")));
  const auto item = inputs_of(with_schema(
      R"({"properties":{"x":{"$ref":"#/$defs/X","description":"One."},"n":{"type":"integer","default":7}},"$defs":{"X":{"type":"object","properties":{"name":{"type":"string"}}}}})"));
  REQUIRE(item);
  CHECK(item->at(0).type == "Object");
  CHECK(item->at(0).description == R"(One. Its members: {"name":{"type":"string"}})");
  CHECK_THAT(item->at(1).description, Catch::EndsWith("Unless given: 7."));
  CHECK_FALSE(inputs_of(with_schema(R"({"type":"object","properties":{"x":{"type":["string","integer"]}}})")));
  CHECK_FALSE(inputs_of(with_schema(R"({"type":"object","properties":{"x":{}}})")));
  CHECK_FALSE(inputs_of(with_schema(R"({"type":"object","additionalProperties":{"type":"string"}})")));
  CHECK_FALSE(inputs_of(with_schema(R"({"type":"object","properties":{"x":true}})")));
  REQUIRE(inputs_of(with_schema("{}")));
  CHECK(inputs_of(with_schema("{}"))->empty());
  const auto two = inputs_of(with_schema(
      R"({"type":"object","properties":{"userId":{"type":"string"},"user_id":{"type":"string"},"odd":{"type":["string","null"]}}})"));
  REQUIRE(two);
  CHECK_THAT((*two)[0].name, Catch::Matches("user_id_[0-9a-f]{6}"));
  CHECK((*two)[1].name == "user_id");
  CHECK((*two)[2].type == "String");
}

TEST_CASE("the definition of a wrapped server is one that the host takes") {
  const auto listed = tool(
      R"({"name":"list_issues","description":"List issues.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}})");
  const auto odd = tool(
      R"({"name":"do: \"it\" {now}","description":"Evil\u202e {text} # \\ \"quoted\"\u0007: it's","inputSchema":{"type":"object","properties":{"x":{"oneOf":[{"type":"string"},{"type":"integer"}]}}}})");
  const auto wrapping = wrap(plan_of("tracker"), {tool(kCreate), listed, odd}, nullptr);
  CAPTURE(wrapping.definition);
  const auto definition = krux::parse_definition(wrapping.definition, "tracker");
  CHECK(definition.api_base_url == "https://mcp.tracker.example/");
  REQUIRE(definition.capabilities.size() == 3);
  const auto& create = definition.capabilities[0];
  CHECK(create.name == "tracker.create_issue");
  CHECK(create.kind == krux::CapabilityKind::kWrite);
  CHECK(create.tier == krux::Tier::kApprovalRequired);
  CHECK_FALSE(create.destructive);
  CHECK_FALSE(create.harmless_to_repeat);  // only the server's word
  CHECK(create.purpose == "Create an issue.");
  REQUIRE(create.inputs.size() == 9);
  CHECK(create.inputs[0].name == "team_id");
  CHECK(create.inputs[2].maximum == 4);
  CHECK(create.inputs[3].type == krux::InputType::kNumber);
  CHECK(create.inputs[4].one_of == std::vector<std::string>{"open", "closed"});
  CHECK(create.inputs[5].max_length == 10);
  CHECK(create.inputs[6].name == "tool_send_at");
  CHECK(create.summary == "tracker.create_issue: team_id {team_id}, title {title}");
  CHECK(definition.capabilities[1].kind == krux::CapabilityKind::kRead);
  CHECK(definition.capabilities[1].fetches);
  CHECK(definition.capabilities[2].inputs.at(0).name == "arguments");
  const auto again = read_wrapped(json_of(wrapping.wrapped));
  CHECK(json_of(again) == json_of(wrapping.wrapped));
  CHECK(again.tools[0].arguments.at("team_id") == "teamId");
  CHECK(again.tools[2].whole);
}

TEST_CASE("a program's definition needs no token, and one with a token asks for it") {
  auto plan = plan_of("tracker");
  const auto listed = tool(R"({"name":"list","inputSchema":{}})");
  plan.token = true;
  CHECK_FALSE(krux::parse_definition(wrap(plan, {listed}, nullptr).definition, "tracker").needs_no_token());
  plan.token = false;
  plan.url.clear();
  plan.command = {"/usr/bin/server", "--stdio"};
  CHECK(krux::parse_definition(wrap(plan, {listed}, nullptr).definition, "tracker").needs_no_token());
  plan.command.clear();
  plan.url = "http://127.0.0.1:8000/mcp?x=1";
  CHECK(krux::parse_definition(wrap(plan, {listed}, nullptr).definition, "tracker").needs_no_token());
}

TEST_CASE("tools keep their names when a server is wrapped again, and names that meet are told apart") {
  const auto first = wrap(plan_of("tracker"), {tool(R"({"name":"get-user","inputSchema":{}})")}, nullptr).wrapped;
  CHECK(first.tools[0].capability == "tracker.get_user");
  const auto second =
      wrap(plan_of("tracker"),
           {tool(R"({"name":"getUser","inputSchema":{}})"), tool(R"({"name":"get-user","inputSchema":{}})")}, &first)
          .wrapped;
  CHECK_THAT(second.tools[0].capability, Catch::Matches("tracker\\.get_user_[0-9a-f]{6}"));
  CHECK(second.tools[1].capability == "tracker.get_user");
  CHECK(second.version == "1.1.0");
  std::vector<Tool> many(300, tool(R"({"name":"x","inputSchema":{}})"));
  for (std::size_t i = 0; i < many.size(); ++i) many[i].name = "tool" + std::to_string(i);
  const auto cut = wrap(plan_of("tracker"), many, nullptr);
  CHECK(cut.wrapped.tools.size() == 256);
  CHECK(cut.left_out.size() == 44);
  CHECK_THROWS_WITH(wrap(plan_of("tracker"), {}, nullptr), Contains("no tools"));
  for (const auto& one : wrap(plan_of("a_service_of_23_letters"), many, nullptr).wrapped.tools)
    CHECK(one.capability.size() + 1 <= 37);
}

TEST_CASE("a file that says what was agreed to is refused with what is wrong about it") {
  const auto good = json_of(wrap(plan_of("tracker"), {tool(R"({"name":"list","inputSchema":{}})")}, nullptr).wrapped);
  const auto with = [&](const std::string& from, const std::string& to) {
    auto text = good;
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  CHECK_THROWS_WITH(read_wrapped("{"), Contains("no JSON object"));
  CHECK_THROWS_WITH(read_wrapped(with("\"schema\": 1", "\"schema\": 2")), Contains("schema"));
  CHECK_THROWS_WITH(read_wrapped(with("tracker", "Tracker")), Contains("plain name"));
  CHECK_THROWS_WITH(read_wrapped(with("tracker.list", "other.list")), Contains("no capability of tracker"));
  CHECK_THROWS_WITH(read_wrapped(with("\"pin\":\"", "\"pin\":\"x")), Contains("64 hexadecimal"));
  CHECK_THROWS_WITH(read_wrapped(with("\"url\"", "\"command\": [\"x\"], \"url\"")), Contains("either"));
  CHECK_THROWS_WITH(read_wrapped(with("https://mcp", "ftp://mcp")), Contains("https://"));
  CHECK_THROWS_WITH(read_wrapped(with("https://mcp", "https://me@mcp")), Contains("a user"));
}

TEST_CASE("an address has two parts") {
  CHECK(address_of("https://a.example").base == "https://a.example/");
  CHECK(address_of("https://a.example:8443/mcp?x=1").path == "mcp?x=1");
  CHECK(address_of("https://a.example?x=1").path == "?x=1");
  CHECK_THROWS(address_of("https:///mcp"));
  CHECK_THROWS(address_of("a.example/mcp"));
}

}  // namespace KRUXOS_TEST_FILE
