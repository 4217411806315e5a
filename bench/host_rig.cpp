#include "bench/host_rig.hpp"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "bench/process_figures.hpp"
#include "bench/report.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"

namespace krux::bench {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char* kToken = "xoxb-bench-0000-token";
constexpr std::int64_t kMostSyncMs = 900'000;

test::SlackEmulatorOptions emulator_options() {
  test::SlackEmulatorOptions options;
  options.tokens = {kToken};
  options.driven_clock = false;
  return options;
}

std::string contents(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Where others could write, the host would load nothing.
void copy_for_host(const char* from, const fs::path& to) {
  fs::copy_file(from, to);
  fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace

HostRig::HostRig(const fs::path& directory) : directory_(directory), slack_(emulator_options()) {
  for (const char* name : {"adapters", "definitions", "keys"}) {
    fs::create_directory(directory / name);
    fs::permissions(directory / name, fs::perms::owner_all);
  }
  copy_for_host(KRUXOS_BENCH_ADAPTER, adapters() / "slack.so");
  copy_for_host(KRUXOS_BENCH_DEFINITION, directory / "definitions/slack.yaml");
  std::ofstream(directory / "kruxos.yaml") << fmt::format(
      "data_dir: {0}/data\nplugins_dir: {0}/adapters\ndefinitions_dir: {0}/definitions\n"
      "vault_key_file: {0}/keys/vault.key\nserver: {{port: 0, health_port: 0}}\nservices:\n  slack:\n"
      "    api_base_url: {1}\n    sync_interval_seconds: 86400\n    initial_messages_per_channel: 100000\n"
      "    quota: [{{match: conversations.history, per_minute: 1000000, burst: 1000}}]\n",
      directory.string(), slack_.api_base_url());
}

double HostRig::start(int workers) {
  const auto begun = now_s();
  test::Command command;
  command.argv = {KRUXOS_BENCH_HOST, "--config", directory_ / "kruxos.yaml", "--set",
                  fmt::format("worker_threads={}", workers)};
  command.inherit_env = false;  // without settings of the person's own host
  command.env = {{"HOME", directory_.string()}, {"PATH", "/usr/bin:/bin"}};
  host_ = std::make_unique<test::Process>(command);
  if (!host_->wait_for_line("ready http://", milliseconds(60'000)))
    wrong("the host did not start: " + host_->output(test::Stream::err));
  const auto took = (now_s() - begun) * 1000;
  const auto ports = parse_json(contents(directory_ / "data/ports.json"), "ports.json");
  port_ = static_cast<std::uint16_t>(find_int(ports, "gateway").value_or(0));
  return took;
}

void HostRig::stop() {
  if (!host_->stop(milliseconds(15'000)).ok()) wrong("the host did not end well: " + host_->output(test::Stream::err));
}

JsonDocument HostRig::operate(const std::string& verb, const std::string& path, const std::string& body) const {
  const auto reply = test::http_request((directory_ / "data/control.sock").string(), verb, "/v1" + path,
                                        {{"host", "localhost"}, {"content-type", "application/json"}}, body);
  if (reply.status != 200) wrong(path + " failed: " + reply.body);
  return parse_json(reply.body, path);
}

void HostRig::connect() {
  operate("POST", "/connections/slack", fmt::format(R"({{"token":"{}"}})", kToken));
}

void HostRig::await_sync(std::int64_t messages) {
  for (std::int64_t waited = 0; waited < kMostSyncMs; waited += 10) {
    const auto document = operate("GET", "/sync/slack");
    const auto* sync = find_member(document, "sync");
    const auto* accounts = sync ? find_member(*sync, "accounts") : nullptr;
    if (!accounts || !accounts->IsArray() || accounts->Empty()) wrong("no account is synced");
    const auto& account = (*accounts)[0];
    const auto* records = find_member(account, "records");
    if (find_int(account, "failures_in_a_row").value_or(0) > 0) wrong("the sync failed: " + to_json(document));
    if (find_int(account, "passes").value_or(0) > 0 && find_string(account, "phase") == "idle") {
      if (!records || find_int(*records, "messages") != messages) wrong("messages are missing: " + to_json(document));
      return;
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  wrong("the sync did not end");
}

std::string HostRig::new_agent() {
  const auto made = operate("POST", "/agents", R"({"name":"bench"})");
  return std::string(find_string(made, "key").value_or(""));
}

double HostRig::private_mb() const {
  return process_figures(host_->pid()).private_mb;
}

fs::path HostRig::replica() const {
  for (const auto& entry : fs::directory_iterator(directory_ / "data/replica/slack")) {
    if (entry.path().extension() == ".db") return entry.path();
  }
  wrong("there is no replica");
}

}  // namespace krux::bench
