// A vault that is protected by a passphrase, and one whose key changes under a running host.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "host_fixture.hpp"
#include "support/scratch.hpp"

namespace KRUXOS_TEST_FILE {

using namespace krux::test;

namespace {

constexpr const char* kPassphrase = "a passphrase of some length";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

RigOptions with_passphrase() {
  RigOptions options;
  options.config = "vault: {protection: passphrase, argon2_passes: 1, argon2_memory_mib: 16}\n";
  return options;
}

Json vault_of(Rig& rig) {
  return rig.operate({"vault", "status"});
}

std::string unlock(Rig& rig, const std::string& passphrase = kPassphrase) {
  return rig.kruxos({"vault", "unlock"}, passphrase + "\n").err;
}

bool somewhere_below(const std::filesystem::path& directory, const std::string& text) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    if (contains(all.str(), text)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a host with a locked vault takes nothing from agents, keeps what it accepted, and goes on once unlocked") {
  Rig rig(with_passphrase());
  rig.start();
  CHECK(bool_at(vault_of(rig), "/vault/locked"));
  CHECK(contains(rig.kruxos({"connect", "slack"}, std::string(kToken) + "\n").err, "kruxos vault unlock"));
  CHECK(rig.slack().calls("auth.test") == 0);
  CHECK(unlock(rig).empty());
  rig.connect();
  REQUIRE(eventually([&] { return rig.synced(); }));
  rig.key = rig.new_agent("assistant");
  const auto waiting = rig.send("kept through the lock"), taken_back = rig.send("taken back");
  REQUIRE(waiting.ok());
  REQUIRE(rig.stop().ok());
  CHECK_FALSE(std::filesystem::exists(rig.path("keys/vault.key")));

  rig.start();
  const auto vault = vault_of(rig);
  CHECK(bool_at(vault, "/vault/locked"));
  CHECK(bool_at(vault, "/vault/passphrase_set"));
  CHECK(number_at(vault, "/vault/tokens") == 1);
  const auto health = http_request(rig.health_port(), "GET", "/health", {}, "");
  CHECK(health.status == 200);
  CHECK(text_at(parse(health.body), "/status") == "degraded");
  CHECK(text_at(parse(health.body), "/vault") == "locked");
  CHECK(http_request(rig.health_port(), "GET", "/health/ready", {}, "").status == 200);
  for (const auto& refused : {rig.invoke("slack.channels"), rig.send("not accepted")}) {
    CHECK(refused.error() == "ServiceUnavailable");
    CHECK(contains(refused.message(), "kruxos vault unlock"));
  }
  CHECK(rig.invoke("slack.cancel", R"({"write_id":")" + taken_back.write_id() + "\"}").ok());
  CHECK(contains(text_of(rig.operate({"alerts"})), "vault_locked"));
  const auto before = rig.slack().calls("conversations.list");
  for (int i = 0; i < 5; ++i) rig.advance(60'000);
  CHECK(rig.slack().calls("conversations.list") == before);
  CHECK(rig.slack().posted(waiting.write_id()) == 0);
  CHECK(rig.state(waiting.write_id()) == "buffered");

  CHECK(contains(unlock(rig, "not the passphrase"), "The passphrase is wrong"));
  CHECK(contains(unlock(rig), "the next try is possible in 1 s"));
  rig.advance(1000);
  CHECK(unlock(rig).empty());
  CHECK(rig.pass_time([&] { return rig.state(waiting.write_id()) == "completed"; }, 60'000));
  CHECK(rig.slack().posted(waiting.write_id()) == 1);
  CHECK(rig.posts_of("taken back") == 0);
  CHECK(rig.invoke("slack.channels").ok());
  CHECK(rig.pass_time([&] { return rig.slack().calls("conversations.list") > before; }, 120'000));
  CHECK(eventually([&] { return !contains(text_of(rig.operate({"alerts"})), "vault_locked"); }));
  CHECK_FALSE(somewhere_below(rig.data(), kPassphrase));
  CHECK_FALSE(somewhere_below(rig.data(), kToken));
  CHECK_FALSE(contains(rig.log(), kPassphrase));
}

TEST_CASE("a running host's key changes, and every token goes on working") {
  RigOptions options;
  options.config = "vault: {argon2_passes: 1, argon2_memory_mib: 16}\n";
  Rig rig(options);
  rig.begin();
  const auto works = [&](const std::string& text) {
    const auto sent = rig.send(text);
    INFO(text << ": " << sent.message());
    REQUIRE(sent.ok());
    return rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }, 60'000);
  };
  const auto made = number_at(vault_of(rig), "/vault/key_made_at_ms");
  CHECK(made > 0);
  rig.advance(5000);
  rig.operate({"vault", "rotate"});
  CHECK(number_at(vault_of(rig), "/vault/key_made_at_ms") > made);
  CHECK(works("after a rotation"));
  rig.operate({"vault", "passphrase"}, std::string(kPassphrase) + "\n");
  CHECK(text_at(vault_of(rig), "/vault/mode") == "passphrase");
  CHECK(works("with a passphrase"));
  REQUIRE(rig.stop().ok());
  rig.start();
  CHECK(unlock(rig).empty());
  CHECK(works("unlocked"));
  rig.operate({"vault", "passphrase", "--remove"}, std::string(kPassphrase) + "\n");
  REQUIRE(rig.stop().ok());
  rig.start();
  CHECK(works("with a key file again"));
}

TEST_CASE("the command that reads a passphrase is closed to its user's other programs") {
  const support::Scratch scratch;
  Command command{.argv = {KRUXOS_COMMAND, "--data-dir", scratch.path().string(), "vault", "passphrase", "--remove"},
                  .stdin_text = std::nullopt};
  // Root's programs are root's either way.
  const bool root = geteuid() == 0;
  if (root) command.argv.insert(command.argv.begin(), {"setpriv", "--reuid=65534", "--clear-groups"});
  Process waiting(command);  // for the passphrase
  const auto of_process = [&](const char* name) { return "/proc/" + std::to_string(waiting.pid()) + "/" + name; };
  const auto closed = [&] {
    struct stat info {};
    std::string program;
    std::getline(std::ifstream(of_process("comm")), program);
    return program == "kruxos" && stat(of_process("environ").c_str(), &info) == 0 &&
           info.st_uid != (root ? 65534 : geteuid());
  };
  CHECK(eventually(closed));
  CHECK(waiting.running());
}

}  // namespace KRUXOS_TEST_FILE
