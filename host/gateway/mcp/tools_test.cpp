#include "host/gateway/mcp/tools.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "core/capability/host_capabilities.hpp"
#include "core/definition/json_schema.hpp"
#include "core/util/json.hpp"
#include "host/gateway/mcp/notes_service.hpp"
#include "host/gateway/mcp/tool_profiles.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace gateway_test;

namespace {

bool knows(const std::string& name) {
  return name.starts_with("notes.") || name.starts_with("proxy.");
}

JsonDocument tools_of(const std::vector<Offered>& offered) {
  return parse_json(mcp::tools_json(offered, knows), "the tools");
}

/// As many reads and writes as that, of one service.
std::shared_ptr<ServiceDefinition> service_of(const std::string& name, int capabilities) {
  auto definition = std::make_shared<ServiceDefinition>();
  definition->service = definition->prefix = name;
  for (int i = 0; i < capabilities; ++i) {
    CapabilityDefinition c;
    c.name = name + ".c" + std::to_string(i);
    definition->capabilities.push_back(c);
  }
  return definition;
}

std::vector<std::string> names_of(std::vector<Offered> offered, const std::string& profile) {
  const auto shown = mcp::chosen(std::move(offered), profile, {"mail", "chat"});
  REQUIRE(std::holds_alternative<std::vector<Offered>>(shown));
  std::vector<std::string> names;
  for (const auto& one : std::get<0>(shown)) names.push_back(one.listed.capability->name);
  return names;
}

std::size_t of(const std::vector<std::string>& names, const std::string& prefix) {
  return static_cast<std::size_t>(
      std::count_if(names.begin(), names.end(), [&](const auto& name) { return name.starts_with(prefix); }));
}

}  // namespace

TEST_CASE("A tool says what its capability takes, gives and does") {
  const auto definition = notes();
  const auto tools = tools_of(offers_of(definition));
  REQUIRE(tools.Size() == 2);
  const auto& search = tools[0];
  CHECK(find_string(search, "name") == "notes__search");
  CHECK(find_string(search, "title") == "Search the notes");
  CHECK(find_string(search, "description") == "To find notes by words.");
  const auto& schema = search["inputSchema"];
  CHECK(find_string(schema, "type") == "object");
  CHECK(find_bool(schema, "additionalProperties") == false);
  CHECK(schema["required"].Size() == 1);
  CHECK(find_string(schema["properties"]["query"], "type") == "string");
  CHECK(find_int(schema["properties"]["query"], "maxLength") == 200);
  CHECK(find_int(schema["properties"]["limit"], "default") == 20);
  CHECK(find_int(schema["properties"]["limit"], "maximum") == 100);
  CHECK(view(schema["properties"]["tags"]["type"][1]) == "null");
  CHECK(find_int(schema["properties"]["tags"], "minItems") == 1);
  CHECK(schema["properties"]["tags"]["items"]["enum"].Size() == 2);
  CHECK(find_string(search["outputSchema"]["properties"]["notes"], "type") == "array");
  CHECK(find_bool(search["annotations"], "readOnlyHint") == true);
  CHECK_FALSE(search["annotations"].HasMember("destructiveHint"));
  CHECK_FALSE(search.HasMember("_meta"));
  const auto& add = tools[1];
  CHECK(find_string(add, "description") ==
        "To keep something. Waits 5 min; until then proxy__cancel_write takes it back. Can be undone with "
        "proxy__rollback. At most 10 in 1 h for each list, 30 in 24 h; more wait for a person.");
  CHECK(find_bool(add["annotations"], "readOnlyHint") == false);
  CHECK(find_bool(add["annotations"], "destructiveHint") == false);
  CHECK(add["inputSchema"]["properties"].HasMember("allow_duplicate"));
  CHECK(add["inputSchema"]["properties"].HasMember("send_at"));
  CHECK_FALSE(add["inputSchema"]["properties"].HasMember("idempotency_key"));
}

TEST_CASE("A tool says which other writes its limits count as well") {
  auto definition = notes();
  const auto limits_of_add = [&](std::vector<Limit> limits) {
    definition->limits = std::move(limits);
    const auto tools = tools_of(offers_of(definition));
    const std::string text(*find_string(tools[1], "description"));
    const auto at = text.find(" At most");
    return at == std::string::npos ? std::string() : text.substr(at + 1);
  };
  constexpr std::int64_t kHour = 3'600'000;
  // All count the same: that is said once, in whichever order they stand.
  CHECK(limits_of_add({{{"notes.add", "notes.move", "notes.drop"}, 10, kHour, "list"},
                       {{"notes.drop", "notes.move", "notes.add"}, 30, 24 * kHour, ""}}) ==
        "At most 10 in 1 h for each list, 30 in 24 h with notes__drop and notes__move; more wait for a person.");
  // Else each says for itself.
  CHECK(limits_of_add({{{"notes.add", "notes.move"}, 10, kHour, ""}, {{"notes.add"}, 30, 24 * kHour, ""}}) ==
        "At most 10 in 1 h with notes__move, 30 in 24 h; more wait for a person.");
  // Of other writes nothing is said.
  CHECK(limits_of_add({{{"notes.move"}, 10, kHour, ""}, {{"notes.add"}, 2, kHour, ""}}) ==
        "At most 2 in 1 h; more wait for a person.");
  CHECK(limits_of_add({{{"notes.move", "notes.drop"}, 10, kHour, ""}}).empty());
  definition->escalate_on_exceed = false;
  CHECK(limits_of_add({{{"notes.add", "notes.move"}, 3, kHour, ""}}) ==
        "At most 3 in 1 h with notes__move; more are refused.");
}

TEST_CASE("A tool's name is its capability's, and back") {
  CHECK(mcp::tool_name("notes.remove_mark") == "notes__remove_mark");
  const std::set<std::string> there{"notes.remove_mark", "notes.add", "a.b_c", "a_b.c", "a.d_e"};
  const auto named = [&](const std::string& tool) {
    return mcp::capability_named(tool, [&](const std::string& name) { return there.contains(name); })
        .value_or("nothing");
  };
  CHECK(named("notes__remove_mark") == "notes.remove_mark");
  CHECK(named("notes.add") == "notes.add");
  CHECK(named("notes_add") == "notes.add");
  CHECK(named("notes_remove_mark") == "notes.remove_mark");
  CHECK(named("a_d_e") == "a.d_e");
  CHECK(named("a_b__c") == "a_b.c");
  for (const char* none : {"a_b_c", "notes", "", "_", "__", "notes_", "notes_addd", "notes__add_", "notes___add"}) {
    CAPTURE(none);
    CHECK(named(none) == "nothing");
  }
  CHECK(named("notes.add" + std::string(100'000, '_')) == "nothing");
}

TEST_CASE("Texts name tools where they mean capabilities, and nothing else is touched") {
  const auto named = [](std::string_view text) { return mcp::with_tool_names(text, knows); };
  CHECK(named("Ask notes.search. Or proxy.write_status, then stop.") ==
        "Ask notes__search. Or proxy__write_status, then stop.");
  CHECK(named(R"({"capability":"notes.add","message":"see notes.add..."})") ==
        R"({"capability":"notes__add","message":"see notes__add..."})");
  for (const char* plain : {"", ".", "...", "a.b", "docs/x.md", "1.5", "notes", "Notes.Add", "\xff.\xfe", "email.*"})
    CHECK(named(plain) == plain);
}

TEST_CASE("A tool's outputs say what stands in lists and objects") {
  auto definition = notes();
  OutputDefinition at{"time", "When.", InputType::kDateTime}, labels{"labels", "", InputType::kArray};
  labels.items = {{"", "", InputType::kString}};
  definition->capabilities[0].outputs[0].items = {{"", "", InputType::kObject, {at, labels}}};
  const auto tools = tools_of(offers_of(definition));
  const auto& item = tools[0]["outputSchema"]["properties"]["notes"]["items"];
  CHECK(find_string(item, "type") == "object");
  CHECK(find_string(item["properties"]["time"], "format") == "date-time");
  CHECK(find_string(item["properties"]["labels"]["items"], "type") == "string");
  const auto& accepted = tools[1]["outputSchema"]["properties"];
  CHECK(accepted.HasMember("write_id"));
  CHECK(accepted.HasMember("cancel_deadline"));
  CHECK_FALSE(accepted.HasMember("buffer_id"));
}

TEST_CASE("A write may destroy unless its definition says that it only adds") {
  auto definition = notes();
  definition->capabilities[1].destructive = true;
  const auto tools = tools_of(offers_of(definition));
  CHECK_FALSE(tools[0]["annotations"].HasMember("destructiveHint"));
  CHECK(find_bool(tools[1]["annotations"], "destructiveHint") == true);
}

TEST_CASE("A read that takes long says for how long") {
  auto definition = notes();
  definition->capabilities[0].takes_long = TakesLong::kMay;
  definition->call_timeout_ms = 120'000;
  CHECK(find_string(tools_of(offers_of(definition))[0], "description") == "To find notes by words. May take 2 min.");
}

TEST_CASE("Which account is meant is asked for where there are several") {
  auto offers = offers_of(notes());
  CHECK_FALSE(tools_of(offers)[0]["inputSchema"]["properties"].HasMember("account"));
  offers[0].several_accounts = true;
  CHECK(tools_of(offers)[0]["inputSchema"]["properties"].HasMember("account"));
}

TEST_CASE("The core has the host's tools and as many of each service's as fit") {
  auto all = offers_of(service_of("mail", 30));
  for (auto& one : offers_of(service_of("chat", 4))) all.push_back(one);
  const auto& host = host_definition();
  for (auto& one : offers_of(host)) all.push_back(one);
  const auto core = names_of(all, "");
  CHECK(core.size() == mcp::kMostCore);
  CHECK(of(core, "chat.") == 4);
  CHECK(of(core, "proxy.") == 4);
  CHECK(of(core, "state.") == 1);
  CHECK(of(core, "agent.") + of(core, "alerts.") == 0);
  CHECK(core == names_of(all, "core"));
  CHECK(core[0] == "mail.c0");
  CHECK(names_of(all, "all").size() == all.size());
  CHECK(names_of(all, "core,all").size() == all.size());
  const auto chat = names_of(all, "chat");
  CHECK(of(chat, "chat.") == 4);
  CHECK(chat.size() == 4 + host->capabilities.size());
  CHECK(of(chat, "mail.") == 0);
  CHECK(of(names_of(all, "core,mail"), "mail.") == 30);
  const auto refused = mcp::chosen(all, "chat,chta", {"mail", "chat"});
  REQUIRE(std::holds_alternative<std::string>(refused));
  CHECK_THAT(std::get<std::string>(refused), Catch::Contains("\"chta\"") && Catch::Contains("core, all, mail, chat"));
}

TEST_CASE("What its definition leaves out of the core is not in it") {
  auto definition = service_of("mail", 3);
  definition->capabilities[1].core = false;
  CHECK(names_of(offers_of(definition), "") == std::vector<std::string>{"mail.c0", "mail.c2"});
}

TEST_CASE("A read's result says whose text it is and who may read it") {
  const mcp::ResultForm form{false, "ifc", knows};
  const auto meta_of = [&](const mcp::ResultForm& how, std::optional<Confidentiality> read_of) {
    auto result = parse_json(mcp::tool_result({true, R"({"a":1})", {}, read_of}, how), "the result");
    return result.HasMember("_meta") ? to_json(result["_meta"]) : std::string();
  };
  CHECK(meta_of(form, Confidentiality::kPrivate) == R"({"ifc":{"integrity":"untrusted","confidentiality":"private"}})");
  CHECK(meta_of(form, Confidentiality::kPublic) == R"({"ifc":{"integrity":"untrusted","confidentiality":"public"}})");
  CHECK(meta_of(form, std::nullopt).empty());
  CHECK(meta_of({true, "", knows}, Confidentiality::kPrivate).find("confidentiality") == std::string::npos);
  CHECK(meta_of({true, "x", knows}, Confidentiality::kPrivate).find("serverInfo") != std::string::npos);
}

TEST_CASE("Content is handed over as what it is, and stands nowhere else") {
  auto definition = notes();
  auto& outputs = definition->capabilities[0].outputs;
  outputs.push_back({"said", "", InputType::kString, {}, {}, ContentKind::kText});
  const auto tools = tools_of(offers_of(definition));
  CHECK_FALSE(tools[0]["outputSchema"]["properties"].HasMember("said"));
  CHECK(tools[0]["outputSchema"]["properties"].HasMember("total"));

  InvocationResult result{true,
                          R"({"total":1,"said":"a\nb","face":{"data":"AA==","mime_type":"image/png"},)"
                          R"("voice":{"data":"AQ==","mime_type":"audio/wav"},)"
                          R"("page":{"uri":"x://1","mime_type":"text/plain","text":"p"},)"
                          R"("file":{"uri":"x://2","mime_type":"a/b","data":"Ag=="}})",
                          {}};
  result.content = {{"said", ContentKind::kText},     {"face", ContentKind::kImage},    {"voice", ContentKind::kAudio},
                    {"page", ContentKind::kResource}, {"file", ContentKind::kResource}, {"gone", ContentKind::kImage}};
  const auto answer = parse_json(mcp::tool_result(result, {false, "", knows}), "the result");
  CHECK(to_json(answer["structuredContent"]) == R"({"total":1})");
  CHECK(
      to_json(answer["content"]) ==
      R"([{"type":"text","text":"a\nb"},)"
      R"({"type":"image","data":"AA==","mimeType":"image/png"},{"type":"audio","data":"AQ==","mimeType":"audio/wav"},)"
      R"({"type":"resource","resource":{"uri":"x://1","mimeType":"text/plain","text":"p"}},)"
      R"({"type":"resource","resource":{"uri":"x://2","mimeType":"a/b","blob":"Ag=="}},)"
      R"({"type":"text","text":"{\"total\":1}"}])");
}

TEST_CASE("What is not what its content is made of stays among the values") {
  const std::string odd =
      R"({"said":5,"face":{"data":"AA=="},"page":{"uri":"x","mime_type":"a/b","text":"t","data":"AA=="},"file":"x"})";
  InvocationResult result{true, odd, {}};
  result.content = {{"said", ContentKind::kText},
                    {"face", ContentKind::kImage},
                    {"page", ContentKind::kResource},
                    {"file", ContentKind::kAudio}};
  const auto answer = parse_json(mcp::tool_result(result, {false, "", knows}), "the result");
  CHECK(to_json(answer["structuredContent"]) == odd);
  CHECK(answer["content"].Size() == 1);
}

TEST_CASE("A failure names the tools that help") {
  const auto result =
      parse_json(mcp::tool_result({false, {}, R"({"type":"X","message":"Ask proxy.write_status.","recovery":[]})"},
                                  {false, "", knows}),
                 "the result");
  CHECK(find_bool(result, "isError") == true);
  CHECK_THAT(std::string(find_string(result["content"][0], "text").value_or("")),
             Catch::Contains("Ask proxy__write_status."));
  CHECK_FALSE(result.HasMember("structuredContent"));
}

TEST_CASE("A schema of several inputs stands beside them, and an input says which header repeats it") {
  auto definition = notes();
  const auto schema = std::make_shared<const JsonSchema>(R"({"anyOf":[{"required":["limit"]},{"required":["tags"]}]})");
  definition->capabilities[0].schema = schema;
  definition->capabilities[0].inputs[0].header = "Query";
  const auto tools =
      parse_json(mcp::tools_json(offers_of(definition), [](const std::string&) { return true; }), "tools");
  const auto& input = tools[0]["inputSchema"];
  CHECK(find_string(input, "$schema") == "https://json-schema.org/draft/2020-12/schema");
  CHECK(to_json(input["anyOf"]) == R"([{"required":["limit"]},{"required":["tags"]}])");
  CHECK(find_string(input["properties"]["query"], "x-mcp-header") == "Query");
  CHECK_FALSE(tools[1]["inputSchema"].HasMember("$schema"));
}

}  // namespace KRUXOS_TEST_FILE
