#include "bench/mail_host.hpp"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "bench/report.hpp"
#include "support/at_rest.hpp"
#include "support/oauth_browser.hpp"
#include "support/safe_file.hpp"

namespace krux::bench {
namespace {

namespace fs = std::filesystem;
using test::milliseconds;

constexpr std::int64_t kStartMs = 1'700'000'000'000, kBootMs = 50'000'000;
// The emulator's own client, whose address to return to may be any of this machine.
constexpr const char* kClient =
    R"({"client_id":"krux-test.apps.googleusercontent.com","client_secret":"GOCSPX-krux-test"})";

test::GmailEmulatorOptions emulator_options() {
  test::GmailEmulatorOptions options;
  options.start_ms = kStartMs;
  return options;
}

std::string contents(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

MailHost::MailHost(const fs::path& directory, std::int64_t units_per_minute)
    : directory_(directory), gmail_(emulator_options()) {
  for (const char* name : {"adapters", "definitions", "keys"}) {
    fs::create_directory(directory / name);
    fs::permissions(directory / name, fs::perms::owner_all);
  }
  support::copy_safe(KRUXOS_BENCH_ADAPTER, directory / "adapters/gmail.so");
  support::copy_safe(KRUXOS_BENCH_DEFINITION, directory / "definitions/gmail.yaml");
  std::ofstream(directory / "kruxos.yaml") << fmt::format(
      "data_dir: {0}/data\nplugins_dir: {0}/adapters\ndefinitions_dir: {0}/definitions\n"
      "vault_key_file: {0}/keys/vault.key\nserver: {{port: 0, health_port: 0}}\nservices:\n  gmail:\n"
      "    api_base_url: {1}/\n    oauth: {{callback_port: 0, authorize_url: {1}/o/oauth2/v2/auth, "
      "token_url: {1}/token, revoke_url: {1}/revoke}}\n",
      directory.string(), gmail_.origin());
  gmail_.quota(fmt::format(R"({{"units_per_minute":{},"costs":{{"gmail.users.messages.get":20}}}})", units_per_minute));
}

void MailHost::start() {
  test::Command command;
  command.argv = {KRUXOS_BENCH_HOST, "--config", directory_ / "kruxos.yaml"};
  command.inherit_env = false;  // without settings of the person's own host
  command.env = {{"HOME", directory_.string()},
                 {"PATH", "/usr/bin:/bin"},
                 {"KRUXOS_TEST_CLOCK", fmt::format("driven:{}:{}", kStartMs, kBootMs)}};
  command.stdin_text = std::nullopt;
  host_ = std::make_unique<test::Process>(command);
  if (!host_->wait_for_line("ready http://", milliseconds(60'000)))
    wrong("the host did not start: " + host_->output(test::Stream::err));
  const auto ports = parse_json(contents(directory_ / "data/ports.json"), "ports.json");
  port_ = static_cast<std::uint16_t>(find_int(ports, "gateway").value_or(0));
}

void MailHost::stop() {
  if (!host_->stop(milliseconds(15'000)).ok()) wrong("the host did not end well: " + host_->output(test::Stream::err));
}

JsonDocument MailHost::operate(const std::string& verb, const std::string& path, const std::string& body) const {
  const auto reply = test::http_request((directory_ / "data/control.sock").string(), verb, "/v1" + path,
                                        {{"host", "localhost"}, {"content-type", "application/json"}}, body);
  if (reply.status != 200) wrong(path + " failed: " + reply.body);
  return parse_json(reply.body, path);
}

void MailHost::connect() {
  const auto begun = operate("POST", "/connections/gmail/oauth", kClient);
  const auto* attempt = find_member(begun, "attempt");
  if (!attempt) wrong("no attempt to connect began: " + to_json(begun));
  test::browse(std::string(find_string(*attempt, "authorize_url").value_or("")));
  const auto path = fmt::format("/connections/gmail/oauth/{}", find_string(*attempt, "attempt_id").value_or(""));
  for (int i = 0; i < 1000; ++i) {
    const auto now = operate("GET", path);
    const auto* known = find_member(now, "attempt");
    if (known && find_string(*known, "state") == "connected") return;
    std::this_thread::sleep_for(milliseconds(10));
  }
  wrong("the account was not connected");
}

std::string MailHost::new_agent() {
  const auto made = operate("POST", "/agents", R"({"name":"bench"})");
  return std::string(find_string(made, "key").value_or(""));
}

MailHost::Sync MailHost::sync() const {
  const auto document = operate("GET", "/sync/gmail");
  const auto* about = find_member(document, "sync");
  const auto* accounts = about ? find_member(*about, "accounts") : nullptr;
  if (!accounts || !accounts->IsArray() || accounts->Empty()) wrong("no account is synced");
  const auto& account = (*accounts)[0];
  Sync sync;
  if (const auto* records = find_member(account, "records")) sync.messages = find_int(*records, "messages").value_or(0);
  sync.done = find_int(account, "passes").value_or(0) > 0;
  if (find_int(account, "failures_in_a_row").value_or(0) > 0) sync.problem = to_json(document);
  return sync;
}

void MailHost::settle() {
  constexpr double kLongestS = 20;
  const auto give_up = now_s() + kLongestS;
  std::optional<std::uint64_t> before;
  for (int rests = 0; rests < 2;) {
    const auto host = test::family_at_rest(host_->pid());
    const auto service = test::at_rest(gmail_.process().pid());
    const auto now = host && service ? std::optional(*host + *service) : std::nullopt;
    rests = now && now == before ? rests + 1 : 0;
    before = now;
    if (now_s() > give_up) wrong("the host never rests");
    if (rests < 2) std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
}

void MailHost::advance(std::int64_t ms) {
  gmail_.advance_ms(ms);
  host_->write_stdin(fmt::format("advance {}\n", ms));
  if (!host_->wait_for_line("clock ", milliseconds(20'000)))
    wrong("the host has ended: " + host_->output(test::Stream::err));
  driven_ms_ += ms;
  settle();
}

}  // namespace krux::bench
