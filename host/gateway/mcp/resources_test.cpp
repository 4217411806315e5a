#include "host/gateway/mcp/resources.hpp"

#include <catch2/catch.hpp>

#include "core/util/json.hpp"
#include "host/gateway/mcp/notes_service.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux;
using namespace gateway_test;

namespace {

bool knows(const std::string& name) {
  return name.starts_with("proxy.");
}

std::shared_ptr<ServiceDefinition> notes_with_resources() {
  auto definition = notes();
  definition->resources = {{"notes://all", "all", "All notes.", "text/plain", "notes.search"},
                           {"notes://{query}", "found", "Notes with a word.", "", "notes.search"},
                           {"notes://blocked", "blocked", "Not offered.", "", "notes.secret"}};
  return definition;
}

InvocationResult read(const std::string& data_json) {
  InvocationResult result{true, data_json, {}, Confidentiality::kPrivate};
  result.content = {{"page", ContentKind::kResource}};
  return result;
}

JsonDocument outcome_of(const InvocationResult& result, bool stateless) {
  const auto outcome = mcp::resource_result(result, {"notes://all", "notes.search", "{}"}, {stateless, "ifc", knows});
  if (const auto* error = std::get_if<RpcError>(&outcome))
    return parse_json(R"({"code":)" + std::to_string(error->code) + R"(,"message":)" + json_string(error->message) +
                          R"(,"data":)" + (error->data_json.empty() ? "null" : error->data_json) + "}",
                      "the error");
  return parse_json(std::get<std::string>(outcome), "the result");
}

}  // namespace

TEST_CASE("Resources are those of capabilities that are offered, with and without inputs apart") {
  const auto definition = notes_with_resources();
  CHECK(mcp::resources_json(offers_of(definition)) ==
        R"([{"uri":"notes://all","name":"all","description":"All notes.","mimeType":"text/plain"}])");
  CHECK(mcp::resource_templates_json(offers_of(definition)) ==
        R"([{"uriTemplate":"notes://{query}","name":"found","description":"Notes with a word."}])");
  CHECK(mcp::resources_json({}) == "[]");
}

TEST_CASE("An address is read with the inputs that stand in it, and a fixed one goes first") {
  const auto definition = notes_with_resources();
  const auto offered = offers_of(definition);
  const auto fixed = mcp::resource_at(offered, "notes://all");
  REQUIRE(fixed);
  CHECK((fixed->capability == "notes.search" && fixed->arguments_json == "{}"));
  const auto found = mcp::resource_at(offered, "notes://red%20%22wine%22");
  REQUIRE(found);
  CHECK(found->arguments_json == R"({"query":"red \"wine\""})");
  CHECK(mcp::resource_at(offered, "notes://blocked")->arguments_json == R"({"query":"blocked"})");
  for (const char* none : {"", "notes://", "notes://a/b", "tasks://all"}) CHECK_FALSE(mcp::resource_at(offered, none));
}

TEST_CASE("What was read comes as contents, labelled as a tool's answer is") {
  const auto page = R"({"page":{"uri":"notes://all","mime_type":"text/plain","text":"a"},"freshness":1})";
  const auto answer = outcome_of(read(page), true);
  CHECK(to_json(answer["contents"]) == R"([{"uri":"notes://all","mimeType":"text/plain","text":"a"}])");
  CHECK(find_string(answer, "resultType") == "complete");
  CHECK(find_int(answer, "ttlMs") == 0);
  CHECK(find_string(answer["_meta"]["ifc"], "integrity") == "untrusted");
  const auto with_sessions = outcome_of(read(page), false);
  CHECK_FALSE(with_sessions.HasMember("ttlMs"));
  CHECK(find_string(with_sessions["_meta"]["ifc"], "confidentiality") == "private");
  const auto bytes = outcome_of(read(R"({"page":{"uri":"notes://all","mime_type":"a/b","data":"AA=="}})"), false);
  CHECK(find_string(bytes["contents"][0], "blob") == "AA==");
}

TEST_CASE("A resource that is not there, and one that fails, are errors of their own") {
  const InvocationResult gone{false, {}, R"({"type":"MessageNotFound","message":"Gone."})"};
  const auto stateless = outcome_of(gone, true), with_sessions = outcome_of(gone, false);
  CHECK(find_int(stateless, "code") == -32602);
  CHECK(find_int(with_sessions, "code") == -32002);
  CHECK(find_string(stateless["data"], "uri") == "notes://all");
  const auto failed = outcome_of({false, {}, R"({"type":"Timeout","message":"Ask proxy.write_status."})"}, true);
  CHECK(find_int(failed, "code") == -32603);
  CHECK(find_string(failed, "message") == "Ask proxy__write_status.");
  CHECK(find_string(failed["data"], "type") == "Timeout");
}

TEST_CASE("Where several accounts are connected, the refusal names the tool that takes one") {
  auto offered = offers_of(notes_with_resources());
  for (const bool several : {false, true}) {
    for (auto& one : offered) one.several_accounts = several;
    const auto read = mcp::resource_at(offered, "notes://all");
    REQUIRE(read);
    const auto message = [&](const char* error) {
      const InvocationResult refused{false, {}, error};
      return std::get<RpcError>(mcp::resource_result(refused, *read, {true, "ifc", knows})).message;
    };
    const std::string says = "call the tool notes__search, which takes \"account\"";
    CHECK((message(R"({"type":"InvalidInput","message":"Several."})").find(says) != std::string::npos) == several);
    CHECK(message(R"({"type":"Timeout","message":"Late."})") == "Late.");
  }
}

TEST_CASE("A resource that cannot be shown says which tool gives it") {
  for (const char* data : {R"({"page":"x"})", R"({"page":{"uri":"notes://all","mime_type":"a/b","data":"no"}})",
                           R"({"members_left_out":["page"]})"}) {
    const auto odd = outcome_of(read(data), true);
    CHECK(find_int(odd, "code") == -32603);
    CHECK_THAT(std::string(find_string(odd, "message").value_or("")), Catch::Contains("Call the tool notes__search"));
  }
}

TEST_CASE("A resource says what its size has cost it") {
  const auto meta_of = [](const std::string& more, const char* holds) {
    const auto answer = outcome_of(
        read(R"({"page":{"uri":"notes://all","mime_type":"a/b",)" + std::string(holds) + "}" + more + "}"), true);
    const auto* meta = find_member(answer["contents"][0], "_meta");
    return meta ? to_json(*meta) : "";
  };
  const auto* text = R"("text":"a")";
  const auto* bytes = R"("data":"AA==")";
  CHECK(meta_of("", text).empty());
  CHECK(meta_of(R"(,"texts_are_cut":true)", text) == R"({"kruxos/texts_are_cut":true})");
  CHECK(meta_of(R"(,"texts_are_cut":true)", bytes).empty());
  CHECK(meta_of(R"(,"texts_are_cut":true,"members_left_out":["more"])", text) ==
        R"({"kruxos/texts_are_cut":true,"kruxos/members_left_out":["more"]})");
}

}  // namespace KRUXOS_TEST_FILE
