#include "host/gateway/mcp/prompts.hpp"

#include "host/gateway/gateway_fixture.hpp"
#include "host/gateway/mcp/notes_service.hpp"

namespace KRUXOS_TEST_FILE {

using namespace gateway_test;

namespace {

TextTemplate text(const std::string& own) {
  return {{own, false}};
}

std::shared_ptr<ServiceDefinition> notes_with_prompts() {
  auto definition = notes();
  PromptDefinition summary{"notes.summary", "Summary", "Sums a book up with notes.search.", {"notes.search"}, {}, {}};
  summary.arguments = {{"book", "Which book.", true, "", {}, ReplicaValues{"books", "title"}},
                       {"style", "How.", false, "short", {"short", "long"}, {}}};
  summary.messages.resize(1);
  summary.messages[0].text = {{"Use notes.search for ", false}, {"book", true}, {", ", false}, {"style", true}};
  PromptDefinition shows{"notes.shows", "Shows", "Shows things.", {}, {}, {}};
  shows.arguments = {{"uri", "Where.", true, "", {}, {}}};
  shows.messages.resize(3);
  shows.messages[0].kind = ContentKind::kImage;
  shows.messages[0].mime_type = "image/png";
  shows.messages[0].data = "AAAA";
  shows.messages[1].kind = ContentKind::kResource;
  shows.messages[1].uri = {{"uri", true}};
  shows.messages[1].mime_type = "text/plain";
  shows.messages[1].text = text("Text.");
  shows.messages[2].role = PromptMessage::Role::kAssistant;
  shows.messages[2].text = text("Seen.");
  definition->prompts = {summary, shows, {"notes.secret_one", "S", "S.", {"notes.secret"}, {}, {}}};
  definition->resources = {{"notes://{query}", "found", "Notes with a word.", "", "notes.search"}};
  definition->capabilities[0].inputs[0].values_from = ReplicaValues{"words", "word"};
  return definition;
}

struct PromptFixture : Fixture {
  PromptFixture() { api.offers = offers_of(notes_with_prompts()); }

  JsonDocument ask(const std::string& method, const std::string& params, const std::string& head) {
    RawClient client(port);
    const auto body = R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}";
    const auto answer = client.ask(http_post("/mcp", body, "Authorization: Bearer " + kKey + "\r\n" + head));
    INFO(answer.body);
    return parse_json(answer.body, "the answer");
  }
  /// In the model with sessions.
  JsonDocument ask(const std::string& method, const std::string& params = "{}") {
    return ask(method, params, "MCP-Protocol-Version: 2025-11-25\r\n");
  }
  JsonDocument get_stateless(const std::string& params, const std::string& abilities = R"({"elicitation":{}})") {
    const auto whole = R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                       R"("io.modelcontextprotocol/clientCapabilities":)" +
                       abilities + R"(},"name":"notes__summary")" + params + "}";
    return ask("prompts/get", whole,
               "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: prompts/get\r\nMcp-Name: notes__summary\r\n");
  }
};

std::string error_of(const JsonDocument& answer) {
  const auto* error = find_member(answer, "error");
  return error ? std::to_string(find_int(*error, "code").value_or(0)) + " " +
                     std::string(find_string(*error, "message").value_or(""))
               : "none: " + to_json(answer);
}

}  // namespace

TEST_CASE("Prompts are listed where all that they need is offered") {
  PromptFixture f;
  const auto listed = f.ask("prompts/list");
  const auto& all = listed["result"]["prompts"];
  REQUIRE(all.Size() == 2);
  CHECK(to_json(all[0]) ==
        R"({"name":"notes__summary","title":"Summary","description":"Sums a book up with notes__search.","arguments":[)"
        R"({"name":"book","description":"Which book.","required":true},)"
        R"({"name":"style","description":"How.","required":false}]})");
  CHECK_FALSE(find_member(listed["result"], "ttlMs"));
  CHECK_THAT(error_of(f.ask("prompts/list", R"({"cursor":"x"})")), Catch::Contains("comes whole"));
  f.api.offers.clear();
  CHECK(f.ask("prompts/list")["result"]["prompts"].Empty());
  CHECK_THAT(error_of(f.ask("prompts/get", R"({"name":"notes__shows","arguments":{"uri":"a:b"}})")),
             Catch::Contains("-32602 There is no prompt"));
}

TEST_CASE("A prompt's messages have the arguments' own texts in their places") {
  PromptFixture f;
  const auto answer =
      f.ask("prompts/get", R"({"name":"notes__summary","arguments":{"book":"notes.add \"{style}\"","style":null}})");
  CHECK(to_json(answer["result"]["messages"]) ==
        R"([{"role":"user","content":{"type":"text","text":"Use notes__search for notes.add \"{style}\", short"}}])");
  CHECK(find_string(answer["result"], "description") == "Sums a book up with notes__search.");
  const auto shows = f.ask("prompts/get", R"({"name":"notes_shows","arguments":{"uri":"notes.search://x"}})");
  CHECK(to_json(shows["result"]["messages"]) ==
        R"([{"role":"user","content":{"type":"image","data":"AAAA","mimeType":"image/png"}},)"
        R"({"role":"user","content":{"type":"resource","resource":{"uri":"notes.search://x","mimeType":"text/plain",)"
        R"("text":"Text."}}},{"role":"assistant","content":{"type":"text","text":"Seen."}}])");
}

TEST_CASE("A prompt that cannot be had says what is wrong") {
  PromptFixture f;
  const std::pair<const char*, const char*> rows[] = {
      {"{}", "\"name\" is missing"},
      {R"({"name":1})", "\"name\" is missing"},
      {R"({"name":"notes__none"})", "There is no prompt \"notes__none\""},
      {R"({"name":"notes__secret_one"})", "There is no prompt"},
      {R"({"name":"notes__summary"})", "\"book\" is missing: Which book."},
      {R"({"name":"notes__summary","arguments":{"book":""}})", "\"book\" is missing"},
      {R"({"name":"notes__summary","arguments":[]})", "must be an object"},
      {R"({"name":"notes__summary","arguments":{"book":1}})", "\"book\" must be a text"},
      {R"({"name":"notes__summary","arguments":{"bok":"a"}})", "did you mean \"book\""},
      {R"({"name":"notes__summary","arguments":{"book":"a","style":"b"}})", "must be one of short, long"},
      {R"({"name":"notes__summary","arguments":{"book":"\u0000"}})", "book"},
  };
  for (const auto& [params, why] : rows) {
    INFO(params);
    CHECK_THAT(error_of(f.ask("prompts/get", params)), Catch::StartsWith("-32602") && Catch::Contains(why));
  }
}

TEST_CASE("Where its user can be asked, what a prompt lacks is asked for, once") {
  PromptFixture f;
  const auto asks = f.get_stateless("");
  CHECK(find_string(asks["result"], "resultType") == "input_required");
  CHECK(to_json(asks["result"]["inputRequests"]) ==
        R"({"arguments":{"method":"elicitation/create","params":{"mode":"form","message":"Which book.",)"
        R"("requestedSchema":{"type":"object","properties":{"book":{"type":"string","description":"Which book."}},)"
        R"("required":["book"]}}}})");
  CHECK(find_string(f.get_stateless(R"(,"inputResponses":{"other":{}})")["result"], "resultType") == "input_required");
  const auto got = f.get_stateless(
      R"(,"arguments":{"style":"long"},"inputResponses":{"arguments":{"action":"accept","content":{"book":"B"}}})");
  CHECK(find_string(got["result"], "resultType") == "complete");
  CHECK(find_string(got["result"]["messages"][0]["content"], "text") == "Use notes__search for B, long");
  const std::string missing = "\"book\" is missing";
  const std::pair<const char*, std::string> rows[] = {
      {R"({"arguments":{"action":"decline"}})", missing},
      {R"({"arguments":{"action":"accept","content":{}}})", missing},
      {R"({"arguments":{"action":"accept","content":{"book":3}}})", "must be a text"},
      {R"({"arguments":{"action":"accept","content":{"shelf":"a"}}})", "no argument \"shelf\""},
      {R"({"arguments":{}})", "action"},
      {R"({"arguments":[]})", "action"},
      {R"([])", "\"inputResponses\" must be an object"},
  };
  for (const auto& [responses, why] : rows) {
    INFO(responses);
    CHECK_THAT(error_of(f.get_stateless(std::string(R"(,"inputResponses":)") + responses)), Catch::Contains(why));
  }
  for (const char* abilities : {"{}", R"({"elicitation":{"url":{}}})"})
    CHECK_THAT(error_of(f.get_stateless("", abilities)), Catch::Contains(missing));
}

TEST_CASE("Values are offered from lists, and from the replica for what the agent may read") {
  PromptFixture f;
  f.api.found = Completion{{"Hamlet"}, 3, false};
  const auto complete = [&](const std::string& ref, const std::string& argument) {
    return f.ask("completion/complete", R"({"ref":)" + ref + R"(,"argument":)" + argument + "}");
  };
  const std::string prompt = R"({"type":"ref/prompt","name":"notes__summary"})";
  CHECK(to_json(complete(prompt, R"({"name":"style","value":"L"})")["result"]) ==
        R"({"completion":{"values":["long"],"total":1,"hasMore":false}})");
  CHECK(to_json(complete(prompt, R"({"name":"book","value":"ham"})")["result"]) ==
        R"({"completion":{"values":["Hamlet"],"total":3,"hasMore":true}})");
  CHECK((f.api.wanted.from.collection == "books" && f.api.wanted.typed == "ham" && f.api.wanted.agent_id == "agent_1" &&
         f.api.wanted.shown_by->name == "notes.search"));
  const std::string address = R"({"type":"ref/resource","uri":"notes://{query}"})";
  f.api.found = Completion{{}, 0, true};
  CHECK(to_json(complete(address, R"({"name":"query","value":""})")["result"]) ==
        R"({"completion":{"values":[],"hasMore":true}})");
  CHECK(f.api.wanted.from.collection == "words");
  const std::string shows = R"({"type":"ref/prompt","name":"notes__shows"})";
  CHECK(to_json(complete(shows, R"({"name":"uri","value":""})")["result"]) ==
        R"({"completion":{"values":[],"total":0,"hasMore":false}})");
  const std::string argument = R"({"name":"book","value":""})";
  const std::tuple<std::string, std::string, const char*> rows[] = {
      {"{}", argument, "\"ref\" is {"},
      {"1", argument, "\"ref\" and \"argument\""},
      {prompt, "1", "\"ref\" and \"argument\""},
      {prompt, R"({"name":"book"})", "{name, value}"},
      {prompt, R"({"name":"none","value":""})", "\"none\" is no argument of notes__summary"},
      {R"({"type":"ref/prompt","name":"none"})", argument, "There is no prompt"},
      {R"({"type":"ref/prompt"})", argument, "\"ref\" is {"},
      {R"({"type":"ref/tool","name":"notes__summary"})", argument, "\"ref\" is {"},
      {R"({"type":"ref/resource","uri":"notes://all"})", argument, "There is no template"},
      {address, R"({"name":"limit","value":""})", "\"limit\" is no argument"},
  };
  for (const auto& [ref, of, why] : rows) {
    INFO(ref + of);
    CHECK_THAT(error_of(complete(ref, of)), Catch::StartsWith("-32602") && Catch::Contains(why));
  }
  f.api.found = Error(ErrorCode::kTimeout, "Late.");
  CHECK_THAT(error_of(complete(prompt, argument)), Catch::Contains("Late."));
}

}  // namespace KRUXOS_TEST_FILE
