// A person is led to the operator's page by his agent's program, and decides there.
#include <filesystem>
#include <fstream>

#include "host_fixture.hpp"
#include "support/safe_file.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr const char* kPassphrase = "a passphrase of some length";
const std::string kSend =
    R"({"name":"slack__send","arguments":{"channel":"general","text":"By the page."},"_meta":{}})";

RigOptions with_page() {
  RigOptions options;
  options.env["KRUXOS_SERVER__WEB_PORT"] = "0";
  options.config = "vault: {argon2_passes: 1, argon2_memory_mib: 16}\n";
  return options;
}

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const auto at = text.find(before);
  if (at == std::string::npos) return {};
  const auto from = at + before.size();
  return text.substr(from, text.find(after, from) - from);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A host that asks about every post, with its page, and an agent's program that `kruxos mcp` serves.
struct Inviting : Rig {
  std::unique_ptr<Process> program;
  std::uint16_t page = 0;

  explicit Inviting(const RigOptions& options = with_page()) : Rig(options) {
    const auto policies = path("policies");
    std::filesystem::create_directory(policies);
    std::filesystem::permissions(policies, std::filesystem::perms::owner_all);
    ::support::write_safe(policies / "slack.yaml",
                          "policy: 1\nservice: slack\ncapabilities: {slack.send: {tier: approval_required}}\n");
    config_text += "policies_dir: " + policies.string() + "\n";
    begin();
    operate({"operator", "set-passphrase"}, std::string(kPassphrase) + "\n");
    std::ifstream ports(data() / "ports.json");
    page =
        static_cast<std::uint16_t>(number_at(parse(std::string((std::istreambuf_iterator<char>(ports)), {})), "/page"));
    std::ofstream(path("agent.key")) << key << "\n";
    std::filesystem::permissions(path("agent.key"), std::filesystem::perms(0600));
    program = launch_kruxos(
        {"mcp", "--key-file", path("agent.key"), "--url", "http://127.0.0.1:" + std::to_string(gateway_port())});
  }
  void say(const std::string& message) { REQUIRE(program->write_stdin(message + "\n")); }
  /// The next message of the program's host that has that text.
  Json hears(const std::string& text) {
    const auto line = program->wait_for_line(text, milliseconds(20000));
    INFO(program->output());
    REQUIRE(line);
    return parse(*line);
  }
  static std::string request(int id, const std::string& method, const std::string& params) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method + R"(","params":)" + params +
           "}";
  }
  /// As a browser does: the address that was shown, the form, the write, its button. Returns what is shown at the end.
  std::string accepts_at(const std::string& address) {
    const std::string origin = "http://127.0.0.1:" + std::to_string(page);
    REQUIRE(address.starts_with(origin + "/writes/w_"));
    const auto way = address.substr(origin.size());
    const auto form = http_request(page, "GET", way, {{"host", origin.substr(7)}});
    CHECK(form.status == 200);
    CHECK(contains(form.body, "type=\"password\""));
    CHECK_FALSE(contains(form.body, "By the page."));  // who has not signed in sees nothing of it
    Headers own{{"host", origin.substr(7)}, {"origin", origin}, {"content-type", "application/x-www-form-urlencoded"}};
    const auto signed_in = http_request(
        page, "POST", "/sign-in", own,
        form_encode({{"next", between(form.body, "name=\"next\" value=\"", "\"")}, {"passphrase", kPassphrase}}));
    REQUIRE(signed_in.status == 303);
    const auto landing = signed_in.header("location");
    CHECK(landing.ends_with(way));
    own["cookie"] = signed_in.header("set-cookie").substr(0, signed_in.header("set-cookie").find(';'));
    const auto shown = http_request(page, "GET", landing, {{"host", origin.substr(7)}, {"cookie", own["cookie"]}});
    CHECK(shown.status == 200);
    CHECK(contains(shown.body, "By the page."));
    const auto field = [&](const std::string& name) {
      return between(shown.body, "name=\"" + name + "\" value=\"", "\"");
    };
    const auto done = http_request(
        page, "POST", landing + "/accept", own,
        form_encode({{"token", field("token")}, {"content_hash", field("content_hash")}, {"state", field("state")}}));
    INFO(done.body);
    CHECK(done.status == 303);
    return done.header("location");
  }
  std::string waiting() {
    const auto id = text_at(operate({"approve", "list"}), "/needs_operator/0/write_id");
    REQUIRE_FALSE(id.empty());
    return id;
  }
};

}  // namespace

TEST_CASE("an agent that waits in a session has its person led to the page, who accepts there, and it is done once") {
  Inviting rig;
  rig.say(
      rig.request(1, "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"url":{}}}})"));
  rig.hears(R"("id":1,)");
  rig.say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  rig.say(rig.request(2, "tools/call", kSend));
  const auto asked = rig.hears(R"("id":2,)");
  CHECK(contains(text_of(asked), "ApprovalRequired"));
  CHECK(contains(text_of(asked), "leads your user to the page"));
  const auto id = rig.waiting();
  rig.say(rig.request(3, "tools/call",
                      R"({"name":"proxy__write_status","arguments":{"wait_seconds":50,"write_id":")" + id + "\"}}"));
  const auto invitation = rig.hears("elicitation/create");
  CHECK(text_at(invitation, "/params/mode") == "url");
  CHECK(contains(text_at(invitation, "/params/message"), "\"assistant\""));
  CHECK_FALSE(contains(text_of(invitation), "By the page."));
  // The program's word decides nothing, and neither does asking for the same again.
  rig.say(R"({"jsonrpc":"2.0","id":)" + text_of(*find_at(invitation, "/id")) +
          R"(,"result":{"action":"accept","content":{"approved":true}}})");
  rig.say(rig.request(4, "tools/call", kSend));
  const auto again = rig.hears(R"("id":4,)");
  CHECK(contains(text_of(again), id));
  CHECK(rig.state(id) == "pending_approval");
  CHECK(size_at(rig.operate({"approve", "list"}), "/needs_operator") == 1);

  rig.accepts_at(text_at(invitation, "/params/url"));
  const auto over = rig.hears("notifications/elicitation/complete");
  CHECK(text_at(over, "/params/elicitationId") == text_at(invitation, "/params/elicitationId"));
  CHECK(rig.pass_time([&] { return rig.state(id) == "completed"; }, 45'000));
  const auto end = rig.hears(R"("id":3,)");
  CHECK(text_at(end, "/result/structuredContent/status") == "completed");
  CHECK(rig.posts_of("By the page.") == 1);
  CHECK(text_at(rig.write(id), "/write/decided_by").starts_with("operator:"));
}

TEST_CASE("an agent whose task waits has its person led to the page, who accepts there, and it is done once") {
  Inviting rig;
  const std::string meta =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":)"
      R"({"elicitation":{"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}})";
  const auto call = [&](int id, const std::string& name, const std::string& arguments) {
    rig.say(rig.request(id, "tools/call", R"({"name":")" + name + R"(","arguments":)" + arguments + "," + meta + "}"));
    return rig.hears("\"id\":" + std::to_string(id) + ",");
  };
  CHECK(
      contains(text_of(call(1, "slack__send", R"({"channel":"general","text":"By the page."})")), "ApprovalRequired"));
  const auto id = rig.waiting();
  const auto created = call(2, "proxy__write_status", R"({"wait_seconds":50,"write_id":")" + id + "\"}");
  CHECK(text_at(created, "/result/resultType") == "task");
  const auto of_task = [&](int number, const std::string& method, const std::string& more = {}) {
    rig.say(rig.request(number, "tasks/" + method,
                        R"({"taskId":")" + text_at(created, "/result/taskId") + "\"," + more + meta + "}"));
    return rig.hears("\"id\":" + std::to_string(number) + ",");
  };
  const auto asking = of_task(3, "get");
  CHECK(text_at(asking, "/result/status") == "input_required");
  REQUIRE(find_at(asking, "/result/inputRequests"));
  const auto& invitation = *find_at(asking, "/result/inputRequests")->MemberBegin();
  of_task(4, "update",
          R"("inputResponses":{")" + std::string(invitation.name.GetString()) + R"(":{"action":"accept"}},)");
  CHECK(text_at(of_task(5, "get"), "/result/status") == "working");
  CHECK(rig.state(id) == "pending_approval");

  rig.accepts_at(text_at(invitation.value, "/params/url"));
  CHECK(text_at(of_task(6, "get"), "/result/status") == "working");
  CHECK(rig.pass_time([&] { return rig.state(id) == "completed"; }));
  const auto end = of_task(7, "get");
  CHECK(text_at(end, "/result/status") == "completed");
  CHECK(text_at(end, "/result/result/structuredContent/status") == "completed");
  CHECK(rig.posts_of("By the page.") == 1);
}

TEST_CASE("where the operator has said so, or has no page, nobody is led there") {
  auto options = with_page();
  const bool has_page = GENERATE(true, false);
  if (has_page)
    options.env["KRUXOS_OPERATOR__INVITE_TO_PAGE"] = "false";
  else
    options.env.erase("KRUXOS_SERVER__WEB_PORT");
  Inviting rig(options);
  rig.say(
      rig.request(1, "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"url":{}}}})"));
  rig.hears(R"("id":1,)");
  rig.say(rig.request(2, "tools/call", kSend));
  CHECK_FALSE(contains(text_of(rig.hears(R"("id":2,)")), "leads your user"));
  const auto id = rig.waiting();
  rig.say(rig.request(3, "tools/call",
                      R"({"name":"proxy__write_status","arguments":{"wait_seconds":50,"write_id":")" + id + "\"}}"));
  rig.operate({"approve", "accept", id, "--yes"});
  CHECK(rig.pass_time([&] { return rig.state(id) == "completed"; }));
  rig.hears(R"("id":3,)");
  CHECK_FALSE(contains(rig.program->output(), "elicitation"));
}

}  // namespace KRUXOS_TEST_FILE
