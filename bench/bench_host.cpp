#include "bench/bench_host.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "bench/report.hpp"
#include "support/http.hpp"
#include "support/safe_file.hpp"

namespace krux::bench {
namespace {

namespace fs = std::filesystem;
using test::milliseconds;

std::string contents(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

BenchHost::BenchHost(fs::path directory, std::string service)
    : directory_(std::move(directory)), service_(std::move(service)) {
  for (const char* name : {"adapters", "definitions", "keys"}) {
    fs::create_directory(directory_ / name);
    fs::permissions(directory_ / name, fs::perms::owner_all);
  }
  add_service(service_, KRUXOS_BENCH_ADAPTER, KRUXOS_BENCH_DEFINITION);
}

void BenchHost::configure(const std::string& settings) const {
  std::ofstream(directory_ / "kruxos.yaml") << fmt::format(
      "data_dir: {0}/data\nplugins_dir: {0}/adapters\ndefinitions_dir: {0}/definitions\n"
      "vault_key_file: {0}/keys/vault.key\nserver: {{port: 0, health_port: 0}}\noperator: {{agents_share_user: "
      "false}}\nservices:\n  {1}:\n{2}",
      directory_.string(), service_, settings);
}

void BenchHost::launch(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& env) {
  test::Command command;
  command.argv = launcher_;
  command.argv.insert(command.argv.end(), {KRUXOS_BENCH_HOST, "--config", directory_ / "kruxos.yaml"});
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.inherit_env = false;  // without settings of the person's own host
  command.env = {{"HOME", directory_.string()}, {"PATH", "/usr/bin:/bin"}};
  command.env.insert(env.begin(), env.end());
  command.stdin_text = std::nullopt;
  host_ = std::make_unique<test::Process>(command);
  if (!host_->wait_for_line("ready http://", milliseconds(60'000)))
    wrong("the host did not start: " + host_->output(test::Stream::err));
  const auto ports = parse_json(contents(directory_ / "data/ports.json"), "ports.json");
  port_ = static_cast<std::uint16_t>(find_int(ports, "gateway").value_or(0));
  health_port_ = static_cast<std::uint16_t>(find_int(ports, "health").value_or(0));
}

void BenchHost::stop() {
  if (!host_->stop(milliseconds(15'000)).ok()) wrong("the host did not end well: " + host_->output(test::Stream::err));
}

JsonDocument BenchHost::operate(const std::string& verb, const std::string& path, const std::string& body) const {
  const auto reply = test::http_request((directory_ / "data/control.sock").string(), verb, "/v1" + path,
                                        {{"host", "localhost"}, {"content-type", "application/json"}}, body);
  if (reply.status != 200) wrong(path + " failed: " + reply.body);
  return parse_json(reply.body, path);
}

void BenchHost::add_service(const std::string& service, const char* adapter, const char* definition) const {
  support::copy_safe(adapter, adapters() / (service + ".so"));
  support::copy_safe(definition, directory_ / "definitions" / (service + ".yaml"));
}

JsonDocument BenchHost::sync_status(const std::string& service) const {
  auto document = operate("GET", "/sync/" + service);
  const auto* sync = find_member(document, "sync");
  const auto* accounts = sync ? find_member(*sync, "accounts") : nullptr;
  if (!accounts || !accounts->IsArray() || accounts->Empty()) wrong("no account is synced");
  JsonDocument account;
  account.CopyFrom((*accounts)[0], account.GetAllocator());
  return account;
}

std::string BenchHost::new_agent(const std::string& name) const {
  const auto made = operate("POST", "/agents", fmt::format(R"({{"name":"{}"}})", name));
  return std::string(find_string(made, "key").value_or(""));
}

}  // namespace krux::bench
