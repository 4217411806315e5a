// Agents' programs that speak the Model Context Protocol.
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "host_fixture.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct McpRig : Rig {
  std::vector<std::string> more;  ///< arguments of `kruxos mcp`
  McpRig() {
    begin();
    std::ofstream(path("agent.key")) << key << "\n";
    std::filesystem::permissions(path("agent.key"), std::filesystem::perms(0600));
  }
  /// What `kruxos mcp` answers to these messages, by their ids: the n-th has the id n.
  std::map<std::int64_t, Json> answers(const std::vector<std::string>& messages) {
    std::string in;
    for (const auto& message : messages) in += message + "\n";
    std::vector<std::string> arguments{"mcp", "--key-file", path("agent.key"), "--url",
                                       "http://127.0.0.1:" + std::to_string(gateway_port())};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto end = kruxos(arguments, in);
    INFO(end.err);
    REQUIRE(end.status.code == 0);
    std::map<std::int64_t, Json> all;
    std::istringstream lines(end.out);
    for (std::string line; std::getline(lines, line);) {
      auto answer = parse(line);
      const auto id = number_at(answer, "/id");
      all[id] = std::move(answer);
    }
    return all;
  }
};

/// Why a tool's answer is not what its schema promises; empty: it is.
std::string why_unlike_schema(const Json& tools, const std::string& tool, const Json& answer) {
  const auto* content = find_at(answer, "/result/structuredContent");
  if (!content) return "there is no structuredContent: " + text_of(answer);
  for (const auto& one : find_at(tools, "/result/tools")->GetArray()) {
    if (text_at(one, "/name") != tool) continue;
    const rapidjson::SchemaDocument schema(*find_at(one, "/outputSchema"));
    rapidjson::SchemaValidator validator(schema);
    if (content->Accept(validator)) return {};
    rapidjson::StringBuffer where;
    validator.GetInvalidDocumentPointer().StringifyUriFragment(where);
    return std::string(validator.GetInvalidSchemaKeyword()) + " at " + where.GetString() + ": " + text_of(*content);
  }
  return "there is no such tool";
}

std::string request(int id, const std::string& method, const std::string& params) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method + R"(","params":)" + params + "}";
}

}  // namespace

TEST_CASE("a program that starts kruxos mcp lists what is connected, and a message that it sends goes out once") {
  McpRig rig;
  const std::string send = R"({"name":"slack__send","arguments":{"channel":"general","text":"From a program."}})";
  const auto answers = rig.answers(
      {request(1, "initialize",
               R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"p","version":"1"}})"),
       R"({"jsonrpc":"2.0","method":"notifications/initialized"})", request(2, "tools/list", "{}"),
       request(3, "tools/call", send), request(4, "tools/call", R"({"name":"slack__channels"})")});
  REQUIRE(answers.size() == 4);
  CHECK(text_at(answers.at(1), "/result/protocolVersion") == "2025-11-25");
  const auto tools = text_of(answers.at(2));
  CHECK(contains(tools, R"("name":"slack__send")"));
  CHECK(contains(tools, R"("name":"proxy__write_status")"));
  CHECK_FALSE(contains(tools, "email__"));
  CHECK(text_at(answers.at(3), "/result/structuredContent/status") == "buffered");
  CHECK(text_at(answers.at(4), "/result/structuredContent/content_trust") == "untrusted");
  const auto id = text_at(answers.at(3), "/result/structuredContent/write_id");
  CHECK(rig.pass_time([&] { return rig.state(id) == "completed"; }));
  // The same again is the same write.
  const auto again = rig.answers({request(1, "tools/call", send)});
  CHECK(text_at(again.at(1), "/result/structuredContent/duplicate_of") == id);
}

TEST_CASE("what a tool answers is what its schema promises") {
  McpRig rig;
  rig.more = {"--tools", "all"};
  const std::string hello = request(1, "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})");
  const auto call = [](int id, const std::string& tool, const std::string& arguments) {
    return request(id, "tools/call", R"({"name":")" + tool + R"(","arguments":)" + arguments + "}");
  };
  const auto answers = rig.answers({hello, request(2, "tools/list", "{}"), call(3, "slack__search", "{}"),
                                    call(4, "slack__channels", "{}"),
                                    call(5, "slack__send", R"({"channel":"general","text":"By its schema."})"),
                                    call(6, "proxy__list_writes", "{}")});
  const auto& tools = answers.at(2);
  CHECK(why_unlike_schema(tools, "slack__search", answers.at(3)) == "");
  CHECK(why_unlike_schema(tools, "slack__channels", answers.at(4)) == "");
  CHECK(why_unlike_schema(tools, "slack__send", answers.at(5)) == "");
  CHECK(why_unlike_schema(tools, "proxy__list_writes", answers.at(6)) == "");
  CHECK(text_at(answers.at(3), "/result/_meta/ifc/integrity") == "untrusted");
  const auto id = text_at(answers.at(5), "/result/structuredContent/write_id");
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "completed"; }));
  const auto message = text_at(answers.at(3), "/result/structuredContent/messages/0/id");
  const auto later =
      rig.answers({hello, call(2, "proxy__write_status", R"({"wait_seconds":50,"write_id":")" + id + "\"}"),
                   call(3, "slack__read", R"({"message_id":")" + message + "\"}")});
  CHECK(why_unlike_schema(tools, "proxy__write_status", later.at(2)) == "");
  CHECK(text_at(later.at(2), "/result/structuredContent/status") == "completed");
  CHECK(why_unlike_schema(tools, "slack__read", later.at(3)) == "");
}

TEST_CASE("kruxos mcp tells in both models that the tools have changed, and ends with its input") {
  McpRig rig;
  const auto mcp = rig.launch_kruxos(
      {"mcp", "--key-file", rig.path("agent.key"), "--url", "http://127.0.0.1:" + std::to_string(rig.gateway_port())});
  const std::string meta =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";
  const auto listen = [&](int id) {
    return request(id, "subscriptions/listen", "{" + meta + R"(,"notifications":{"toolsListChanged":true}})") + "\n";
  };
  REQUIRE(mcp->write_stdin(request(1, "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})") + "\n"));
  REQUIRE(mcp->wait_for_line(R"("protocolVersion":"2025-11-25")"));
  for (const int id : {7, 8}) {
    REQUIRE(mcp->write_stdin(listen(id)));
    REQUIRE(mcp->wait_for_line(R"("io.modelcontextprotocol/subscriptionId":)" + std::to_string(id) +
                               R"(},"notifications":{"toolsListChanged":true})"));
  }
  REQUIRE(mcp->write_stdin(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}})"
                           "\n"));
  // A call behind it goes on as ever.
  REQUIRE(mcp->write_stdin(request(2, "ping", "{}") + "\n"));
  REQUIRE(mcp->wait_for_line(R"("id":2,"result":{})"));
  // When the session's own stream has begun nobody says: what is read anew is told each time.
  CHECK(eventually([&] {
    rig.host().signal(SIGHUP);
    return contains(mcp->output(), R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})") &&
           contains(mcp->output(), R"(list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}})");
  }));
  CHECK_FALSE(
      contains(mcp->output(), R"(list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":8})"));
  mcp->close_stdin();
  const auto end = mcp->wait(milliseconds(10000));
  REQUIRE(end);
  CHECK(end->code == 0);
}

TEST_CASE("a key that was revoked ends what a program may do over kruxos mcp") {
  McpRig rig;
  rig.operate({"agent", "revoke", "assistant", "-y"});
  const auto answers = rig.answers({request(1, "tools/list", "{}")});
  CHECK(contains(text_at(answers.at(1), "/error/message"), "A valid agent key is needed"));
}

}  // namespace KRUXOS_TEST_FILE
