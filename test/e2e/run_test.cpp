// A host that runs: stopping, reloading, a full disk, and what it never shows.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

#include "host_fixture.hpp"
#include "support/safe_file.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("SIGTERM ends the host within five seconds, whatever hangs") {
  const std::string hanging = GENERATE("nothing", "chat.postMessage", "conversations.history");
  CAPTURE(hanging);
  Rig rig;
  rig.begin();
  std::string id;
  if (hanging != "nothing") {
    rig.slack().fault(R"({"method":")" + hanging + R"(","kind":"hang","count":0})");
    if (hanging == "chat.postMessage") id = rig.send("stopped in the middle").write_id();
    REQUIRE(rig.pass_time([&] { return rig.slack().hanging() > 0; }, 130'000));
  }
  const auto begun = std::chrono::steady_clock::now();
  CHECK(rig.stop(milliseconds(8000)).ok());
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(5500));
  if (id.empty()) return;
  // What was under way has an outcome that nobody knows.
  rig.slack().clear_faults();
  rig.start();
  CHECK(rig.pass_time([&] { return rig.told(id); }, 300'000));
  CHECK(rig.slack().posted(id) == 0);
}

TEST_CASE("an operator who waits for an undo does not hold up the end, and is told what goes on") {
  Rig rig;
  rig.begin();
  const auto id = rig.send("To be undone.").write_id();
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "completed"; }, 130'000));
  rig.slack().fault(R"({"method":"chat.delete","kind":"hang","count":0})");
  Finished undo;
  std::thread waiting([&] { undo = rig.kruxos({"approve", "rollback", id, "--yes"}); });
  const bool hangs = eventually([&] { return rig.slack().hanging() > 0; });
  const auto begun = std::chrono::steady_clock::now();
  CHECK(rig.stop(milliseconds(8000)).ok());
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(5500));
  waiting.join();
  CHECK(hangs);
  CHECK_FALSE(undo.status.ok());
  CHECK_THAT(undo.err, Catch::Contains("goes on when the host runs again") && Catch::Contains("rb_"));
}

TEST_CASE("connects that hang neither hold up the operator nor the end") {
  Rig rig;
  rig.begin();
  rig.slack().fault(R"({"method":"auth.test","kind":"hang","count":0})");
  std::vector<std::thread> operators;
  std::atomic<int> conflicts{0};
  for (int i = 0; i < 4; ++i) {
    operators.emplace_back([&] {
      constexpr int kConflict = 5;
      conflicts += rig.kruxos({"connect", "slack"}, std::string(kToken) + "\n").status.code == kConflict;
    });
  }
  CHECK(eventually([&] { return conflicts == 3 && rig.slack().hanging() > 0; }));
  CHECK(rig.kruxos({"status"}).status.ok());
  CHECK(rig.stop(milliseconds(8000)).ok());
  for (auto& one : operators) one.join();
}

TEST_CASE("a start that cannot listen sends nothing and loses nothing") {
  Rig rig;
  rig.begin();
  const auto id = rig.send("once the host can listen").write_id();
  CHECK(rig.stop().ok());
  rig.advance(60'000);
  const auto good = rig.config_text;
  const std::string free = "server: {port: 0,";
  const auto url = rig.slack().api_base_url();  // http://127.0.0.1:PORT/api/
  const auto port = url.substr(url.rfind(':') + 1, url.find("/api/") - url.rfind(':') - 1);
  rig.config_text.replace(rig.config_text.find(free), free.size(), "server: {port: " + port + ",");
  rig.launch();
  CHECK(rig.await_end().code == 1);
  CHECK(contains(rig.log(), "Cannot listen"));
  rig.config_text = good;
  rig.start();
  CHECK(rig.pass_time([&] { return rig.state(id) == "completed"; }));
  CHECK(number_at(rig.write(id), "/write/attempts") == 1);
  CHECK(rig.slack().posted(id) == 1);
}

TEST_CASE("a definition that breaks while the host runs is not taken, and the operator is told") {
  Rig rig;
  rig.begin();
  const auto definition = rig.path("definitions/slack.yaml");
  const auto good = bytes_of(definition);
  std::ofstream(definition) << good << "\nno_such_key: 1\n";
  rig.host().signal(SIGHUP);
  CHECK(eventually([&] { return contains(text_of(rig.operate({"alerts"})), "definition_refused"); }));
  CHECK(rig.send("still here").ok());

  auto changed = good;
  const std::string purpose = "List the channels of the Slack workspace.";
  changed.replace(changed.find(purpose), purpose.size(), "Every channel there is.");
  std::ofstream(definition) << changed;
  rig.host().signal(SIGHUP);
  CHECK(eventually([&] {
    const auto body = R"({"jsonrpc":"2.0","id":1,"method":"capabilities.describe","params":{"name":"slack.channels"}})";
    const auto reply =
        http_request(rig.gateway_port(), "POST", "/rpc",
                     {{"authorization", "Bearer " + rig.key}, {"content-type", "application/json"}}, body);
    return contains(reply.body, "Every channel there is.");
  }));
  CHECK(eventually([&] { return !contains(text_of(rig.operate({"alerts"})), "definition_refused"); }));
}

TEST_CASE("an operator's policy is in force at once, and another one after a signal") {
  Rig rig;
  const auto policies = rig.path("policies");
  std::filesystem::create_directory(policies);
  std::filesystem::permissions(policies, std::filesystem::perms::owner_all);
  const auto put = [&](const std::string& tier) {
    ::support::write_safe(policies / "slack.yaml",
                          "policy: 1\nservice: slack\ncapabilities: {slack.send: {tier: " + tier + "}}\n");
  };
  put("blocked");
  rig.config_text += "policies_dir: " + policies.string() + "\n";
  rig.begin();
  CHECK(rig.send("Not now.").error() == "OperationBlocked");
  put("notify");
  rig.host().signal(SIGHUP);
  REQUIRE(eventually([&] { return rig.send("Now.").ok(); }));
  put("[");
  rig.host().signal(SIGHUP);
  CHECK(eventually([&] { return contains(text_of(rig.operate({"alerts"})), "slack.yaml:"); }));
  CHECK(rig.send("As before.").ok());
}

TEST_CASE("rules hold, block and hide, name themselves, and are read again after a signal") {
  Rig rig;
  const auto policies = rig.path("policies");
  for (const auto& directory : {policies, policies / "rules", policies / "rules/agents"}) {
    std::filesystem::create_directory(directory);
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
  }
  const auto system = policies / "rules/system.yaml";
  ::support::write_safe(system, R"(policy: 1
rules:
  - {name: general, capabilities: [slack.send], tier: approval_required, when: [{input: channel, equals: C0GENERAL01}], reason: Everybody reads it.}
  - {name: no secrets, capabilities: ["slack.s*"], tier: blocked, when: [{input: text, prefix: secret}]}
  - {name: no reactions, capabilities: [slack.react], tier: blocked}
)");
  rig.config_text += "policies_dir: " + policies.string() + "\n";
  rig.begin();
  const auto held = rig.send("Hello, all.");  // by the channel's name
  CHECK(held.error() == "ApprovalRequired");
  CHECK(text_at(held.document, "/result/error/context/rule") == "general");
  CHECK(text_at(held.document, "/result/error/context/reason") == "Everybody reads it.");
  const auto id = text_at(held.document, "/result/error/context/write_id");
  CHECK(contains(rig.kruxos({"approve", "show", id}).out, "general (" + system.string() + ":3)"));
  CHECK(rig.send("Hello.", "random").ok());
  CHECK(rig.send("secret plans", "random").error() == "PolicyDenied");
  CHECK(rig.invoke("slack.react", R"({"channel":"general","ts":"1.1","reaction":"x"})").error() == "PolicyDenied");
  CHECK_FALSE(contains(text_of(rig.invoke("agent.capabilities", "{}").document), "\"slack.react\""));
  CHECK(contains(rig.kruxos({"policy", "check", "slack.send", "--agent", "bot", "--arguments",
                             R"({"channel":"C0GENERAL01","text":"x"})"})
                     .out,
                 ":3 (general)"));
  // The rule would ask again when it is due: a person has let it go.
  REQUIRE(rig.kruxos({"approve", "accept", id, "--yes"}).status.code == 0);
  REQUIRE(rig.pass_time([&] { return rig.state(id) == "completed"; }, 130'000));

  ::support::write_safe(system, "policy: 1\nrules:\n  - {name: general, capabilities: [slack.sned], tier: blocked}\n");
  rig.host().signal(SIGHUP);
  CHECK(eventually([&] { return contains(text_of(rig.operate({"alerts"})), "did you mean"); }));
  CHECK(rig.send("Still held.").error() == "ApprovalRequired");
  ::support::write_safe(system, "policy: 1\nrules: []\n");
  rig.host().signal(SIGHUP);
  REQUIRE(eventually([&] { return !contains(text_of(rig.operate({"alerts"})), "rules_refused"); }));
  CHECK(rig.send("Not held any more.").ok());
}

TEST_CASE("a disk that is full refuses new writes clearly, and loses none that were taken") {
  // A file may not grow beyond so much: SQLite sees what it sees on a full disk. The signal for it must not kill.
  Rig rig({.launcher = {"/bin/sh", "-c", "ulimit -f 3000; exec \"$@\"", "sh"}});
  rig.begin();
  const std::string filler(30'000, 'x');
  // Made while there is room: the disk may be full when the next agent is wanted.
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i) keys.push_back(rig.new_agent("filler" + std::to_string(i)));
  std::vector<std::string> taken;
  Answer refused;
  for (int i = 0; i < 400 && refused.status == 0; ++i) {
    auto answer = rig.invoke(
        "slack.send", R"({"channel":"general","allow_duplicate":true,"text":")" + std::to_string(i) + filler + "\"}");
    if (answer.ok()) {
      taken.push_back(answer.write_id());
    } else if (answer.error() == "BatchProtection" || answer.error() == "ApprovalRequired") {
      // The limit of an agent: the next one goes on.
      REQUIRE_FALSE(keys.empty());
      rig.key = keys.back();
      keys.pop_back();
    } else {
      refused = std::move(answer);
    }
  }
  INFO(text_of(refused.document));
  REQUIRE(refused.status != 0);
  CHECK(rig.alive());
  CHECK_FALSE(refused.message().empty());
  CHECK(bool_at(refused.document, "/result/error/retryable"));
  const auto health = http_request(rig.health_port(), "GET", "/health");
  CAPTURE(health.status, health.body, rig.host().output(Stream::err).size());
  for (const auto& id : taken) rig.invoke("slack.cancel", R"({"write_id":")" + id + "\"}");
  CHECK(rig.stop(milliseconds(8000)).code == 0);

  rig.set_launcher({});
  rig.start();
  for (const auto& id : taken) CHECK_FALSE(rig.state(id).empty());
}

TEST_CASE("the token is shown nowhere") {
  Rig rig;
  rig.begin();
  const auto sent = rig.send("with a token");
  rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }, 60'000);
  rig.slack().fault(R"({"method":"*","kind":"http_status","status":500,"count":3})");
  rig.advance(60'000);
  std::string shown;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"status"},
                                             {"connect", "status"},
                                             {"config", "show"},
                                             {"alerts", "--all"},
                                             {"approve", "list"},
                                             {"plugin", "list"},
                                             {"approve", "show", sent.write_id()}}) {
    shown += rig.kruxos(words).out + text_of(rig.operate(words));
  }
  shown += text_of(rig.invoke("slack.search").document);
  const auto proc = "/proc/" + std::to_string(rig.host().pid());
  CHECK_FALSE(contains(shown, kToken));
  CHECK_FALSE(contains(rig.log(), kToken));
  CHECK_FALSE(contains(bytes_of(proc + "/cmdline"), kToken));
  CHECK_FALSE(contains(bytes_of(proc + "/environ"), kToken));
  CHECK(contains(rig.log(), "chat.postMessage"));  // so there was something to see

  // Not dumpable: its files in /proc belong to root, whoever runs it, and no core is written.
  const auto map = bytes_of(proc + "/status");
  CHECK(contains(map, "CoreDumping:\t0"));

  rig.stop();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(rig.data())) {
    if (!entry.is_regular_file()) continue;
    CAPTURE(entry.path());
    CHECK_FALSE(contains(bytes_of(entry.path()), kToken));
    CHECK_FALSE(contains(bytes_of(entry.path()), rig.key));
    CHECK((entry.status().permissions() & std::filesystem::perms(077)) == std::filesystem::perms::none);
  }
}

}  // namespace KRUXOS_TEST_FILE
