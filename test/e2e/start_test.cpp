// What the host refuses to start with, and that it leaves alone what it refuses.
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "host_fixture.hpp"
#include "support/notify_socket.hpp"
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

// Its sentence, after an exit with code 1 and nothing on standard output.
std::string refusal(Rig& rig) {
  rig.launch();
  const auto ended = rig.await_end();
  CHECK(ended.code == 1);
  CHECK(rig.host().output().empty());
  auto said = rig.host().output(Stream::err);
  CHECK(said.find("kruxosd: ") != std::string::npos);
  return said;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Without showing a database's bytes when they differ.
bool same(const std::string& left, const std::string& right) {
  return left == right;
}

void overwrite(const std::filesystem::path& file, std::streamoff at, const std::string& with) {
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(at);
  out << with;
}

}  // namespace

TEST_CASE("a second host on the same data directory is refused, and the first goes on") {
  Rig rig;
  rig.begin();
  const auto second = run({.argv = {KRUXOS_TEST_HOST, "--config", rig.path("kruxos.yaml").string()}});
  INFO(second.err);
  CHECK(second.status.code == 1);
  CHECK(contains(second.err, "Another kruxosd (pid " + std::to_string(rig.host().pid()) + ")"));
  CHECK(rig.invoke("slack.channels").ok());
  CHECK(rig.operate({"status"})["ready"].GetBool());
}

TEST_CASE("a configuration that is not understood is refused with its line") {
  const auto [lines, part] = GENERATE(table<std::string, std::string>({
      {"sever: {port: 1}\n", ":10:"},
      {"worker_threads: many\n", ":10:"},
      {"server: {port: 1}\n", ":10:"},
      {"log: [\n", ":1"},
      {"policies_dir: [/tmp]\n", ":10:"},
      {"write_buffer: {delays: {slack.send: -1}}\n", ":10:"},
  }));
  CAPTURE(lines);
  Rig rig;
  rig.config_text += lines;
  const auto said = refusal(rig);
  INFO(said);
  CHECK(contains(said, "kruxos.yaml"));
  CHECK(contains(said, part));
  const auto checked =
      run({.argv = {KRUXOS_TEST_HOST, "--check-config", "--config", rig.path("kruxos.yaml").string()}});
  CHECK(checked.status.code == 1);
}

TEST_CASE("a name in the configuration that there is not is refused with its line, at the start and before") {
  // What is put in the place of what; the line is that of the new text.
  const auto [place, lines, sentence] = GENERATE(table<std::string, std::string, std::string>({
      {"$", "write_buffer: {delays: {slack.sned: 60}}\n",
       "there is no operation \"slack.sned\" (did you mean \"slack.send\"?)"},
      {"$", "write_buffer: {delays: {slack.search: 60}}\n", "slack.search is no write"},
      {"vault_key_file: [^\n]*\n", "vault_key_file: data/vault.key\n", "lies inside the data directory"},
      {"services:\n", "services:\n  slak: {enabled: true}\n", "there is no service \"slak\" (did you mean \"slack\"?)"},
      {"  slack:\n", "  slack:\n    adapter: {look_back_hour: 3}\n", "the adapter has no setting \"look_back_hour\""},
  }));
  CAPTURE(lines);
  Rig rig;
  auto& text = rig.config_text;
  text = place == "$" ? text + lines
                      : std::regex_replace(text, std::regex(place), lines, std::regex_constants::format_first_only);
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(text.find(lines) + lines.size());
  const auto line = std::to_string(std::count(text.begin(), end, '\n'));
  const auto said = refusal(rig);
  INFO(said);
  CHECK(contains(said, sentence));
  CHECK(contains(said, "kruxos.yaml:" + line + ":"));
  const auto checked =
      run({.argv = {KRUXOS_TEST_HOST, "--check-config", "--config", rig.path("kruxos.yaml").string()}});
  CHECK(checked.status.code == 1);
  CHECK(contains(checked.err, sentence));
}

TEST_CASE("checking the configuration refuses a policy that would act on nothing") {
  Rig rig;
  const auto policies = rig.path("policies");
  std::filesystem::create_directory(policies);
  std::filesystem::permissions(policies, std::filesystem::perms::owner_all);
  rig.config_text += "policies_dir: " + policies.string() + "\n";
  std::ofstream(rig.path("kruxos.yaml")) << rig.config_text;
  const auto check = [&] {
    return run({.argv = {KRUXOS_TEST_HOST, "--check-config", "--config", rig.path("kruxos.yaml").string()}});
  };
  ::support::write_safe(policies / "slack.yaml", "policy: 1\nservice: slack\ncapabilities: {}\n");
  CHECK(check().status.ok());
  std::filesystem::rename(policies / "slack.yaml", policies / "slack.yml");
  const auto refused = check();
  CHECK(refused.status.code == 1);
  CHECK(contains(refused.err, "slack.yml: no service is held to this file"));
}

TEST_CASE("a ledger of a newer version is refused and not touched") {
  Rig rig;
  rig.begin();
  REQUIRE(rig.stop().ok());
  const auto ledger = rig.data() / "kruxos.db";
  overwrite(ledger, 60, std::string("\0\0\x03\xe7", 4));  // the header's user_version: 999
  const auto before = bytes_of(ledger);
  const auto said = refusal(rig);
  INFO(said);
  CHECK(contains(said, "kruxos.db"));
  CHECK(contains(said, "newer"));
  CHECK(same(bytes_of(ledger), before));
}

TEST_CASE("a damaged ledger is refused with a sentence and not touched") {
  const std::string how = GENERATE("head", "page", "short", "other");
  CAPTURE(how);
  Rig rig;
  rig.begin();
  REQUIRE(rig.stop().ok());
  const auto ledger = rig.data() / "kruxos.db";
  if (how == "head") overwrite(ledger, 0, "This is no database.");
  if (how == "page") overwrite(ledger, 4096, std::string(8192, '\x5a'));
  if (how == "short") std::filesystem::resize_file(ledger, 5000);
  if (how == "other") overwrite(ledger, 68, "abcd");  // the application_id
  const auto before = bytes_of(ledger);
  const auto said = refusal(rig);
  INFO(said);
  CHECK(contains(said, "kruxos.db"));
  CHECK(same(bytes_of(ledger), before));
}

TEST_CASE("a data directory that others can enter is refused") {
  Rig rig;
  std::filesystem::create_directory(rig.data());
  ::chmod(rig.data().c_str(), 0755);
  CHECK(contains(refusal(rig), "chmod 700"));
}

TEST_CASE("a vault key that is lost is told, and serves again when it is put back") {
  Rig rig;
  rig.begin();
  REQUIRE(rig.stop().ok());
  std::filesystem::rename(rig.path("keys/vault.key"), rig.path("elsewhere"));
  const auto said = refusal(rig);
  INFO(said);
  CHECK(contains(said, "vault.key"));
  std::filesystem::rename(rig.path("elsewhere"), rig.path("keys/vault.key"));
  rig.start();
  const auto sent = rig.send("with the old token");
  REQUIRE(sent.ok());
  CHECK(rig.pass_time([&] { return rig.state(sent.write_id()) == "completed"; }, 60'000));
}

TEST_CASE("a name in the plugins directory that is no UTF-8 is listed readably") {
  Rig rig;
  std::ofstream(rig.path("adapters/\xffj.so")) << "This is no library.\n";
  rig.start();
  const auto plugins = rig.operate({"plugin", "list"});
  INFO(text_of(plugins));
  CHECK(size_at(plugins, "/plugins") == 2);
  CHECK(contains(text_of(plugins), R"(\\xffj.so)"));
}

TEST_CASE("an adapter that is no library costs itself alone") {
  Rig rig;
  std::ofstream(rig.path("adapters/telegram.so")) << "This is no library.\n";
  rig.begin();
  const auto plugins = rig.operate({"plugin", "list"});
  INFO(text_of(plugins));
  CHECK(size_at(plugins, "/plugins") == 2);
  CHECK(text_of(plugins).find("refused") != std::string::npos);
  CHECK(rig.invoke("slack.channels").ok());
}

TEST_CASE("a service manager hears when the host serves, reads its definitions anew, and stops") {
  const support::Scratch dir;
  const auto address = (dir.path() / "notify").string();
  const support::NotifySocket manager(address);
  Rig rig({.env = {{"NOTIFY_SOCKET", address}}});
  constexpr int kSoonMs = 15'000;
  rig.start();
  CHECK(manager.next(kSoonMs).starts_with("READY=1\nSTATUS=ready http://127.0.0.1:"));
  CHECK(kill(rig.host().pid(), SIGHUP) == 0);
  CHECK(manager.next(kSoonMs).starts_with("RELOADING=1\nMONOTONIC_USEC="));
  CHECK(manager.next(kSoonMs).starts_with("READY=1\n"));
  CHECK(rig.stop().ok());
  CHECK(manager.next(kSoonMs) == "STOPPING=1\nSTATUS=stopping");
}

TEST_CASE("a start that fails tells the service manager nothing") {
  const support::Scratch dir;
  const auto address = (dir.path() / "notify").string();
  const support::NotifySocket manager(address);
  Rig rig({.config = "log: {level: loud}\n", .env = {{"NOTIFY_SOCKET", address}}});
  refusal(rig);
  CHECK(manager.next() == "nothing");
}

}  // namespace KRUXOS_TEST_FILE
