#include "host_rig.hpp"

#include <rapidjson/pointer.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "support/at_rest.hpp"
#include "support/safe_file.hpp"

namespace krux::test {
namespace {

using std::filesystem::path;

std::map<std::string, std::string> plain_environment(const path& home) {
  const char* search = std::getenv("PATH");
  std::map<std::string, std::string> env{{"PATH", search ? search : "/usr/bin:/bin"}, {"HOME", home.string()}};
  for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LLVM_PROFILE_FILE"}) {
    if (const char* value = std::getenv(name)) env[name] = value;
  }
  return env;
}

std::string tail(const std::string& text) {
  return text.size() > 3000 ? "..." + text.substr(text.size() - 3000) : text;
}

}  // namespace

// --- JSON

Json parse(const std::string& text) {
  Json document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(text.data(), text.size());
  if (document.HasParseError()) throw std::runtime_error("this is no JSON: " + tail(text));
  return document;
}
const rapidjson::Value* find_at(const rapidjson::Value& document, const std::string& pointer) {
  return rapidjson::Pointer(pointer).Get(document);
}
std::string text_at(const rapidjson::Value& document, const std::string& pointer) {
  const auto* at = find_at(document, pointer);
  return at && at->IsString() ? at->GetString() : "";
}
std::int64_t number_at(const rapidjson::Value& document, const std::string& pointer) {
  const auto* at = find_at(document, pointer);
  return at && at->IsInt64() ? at->GetInt64() : 0;
}
bool bool_at(const rapidjson::Value& document, const std::string& pointer) {
  const auto* at = find_at(document, pointer);
  return at && at->IsBool() && at->GetBool();
}
std::size_t size_at(const rapidjson::Value& document, const std::string& pointer) {
  const auto* at = find_at(document, pointer);
  return at && at->IsArray() ? at->Size() : 0;
}
std::string text_of(const rapidjson::Value& document) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  document.Accept(writer);
  return buffer.GetString();
}

bool eventually(const std::function<bool()>& condition, milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

RigOptions either_isolation(RigOptions options) {
  const bool apart = GENERATE(false, true);
  if (apart) options.service += kInItsOwnProcess;
  return options;
}

// --- the host

HostRig::HostRig(RigOptions options, Served served) : options_(std::move(options)), served_(std::move(served)) {
  prepare();
}

void HostRig::prepare() {
  for (const char* name : {"keys", "adapters", "definitions", "home"}) {
    std::filesystem::create_directory(path(name));
    std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
  }
  support::copy_safe(served_.adapter, path("adapters/" + served_.name + ".so"));
  support::copy_safe(served_.definition, path("definitions/" + served_.name + ".yaml"));
  config_text = "data_dir: " + data().string() + "\nplugins_dir: " + path("adapters").string() +
                "\ndefinitions_dir: " + path("definitions").string() +
                "\nvault_key_file: " + path("keys/vault.key").string() +
                "\nserver: {port: 0, health_port: 0}\nlog: {level: debug}\nservices:\n  " + served_.name + ":\n" +
                served_.settings + options_.service + options_.config;
}

Command HostRig::host_command(const std::string& fault) const {
  Command command;
  command.argv = options_.launcher;
  command.argv.insert(command.argv.end(), {KRUXOS_TEST_HOST, "--config", path("kruxos.yaml").string()});
  command.inherit_env = false;
  command.env = plain_environment(path("home"));
  command.env.insert(options_.env.begin(), options_.env.end());
  command.env.emplace("KRUXOS_OPERATOR__AGENTS_SHARE_USER", "false");  // unless a test is about that
  if (!fault.empty()) command.env["KRUXOS_TEST_FAULT"] = fault;
  if (options_.driven) {
    command.env["KRUXOS_TEST_CLOCK"] = "driven:" + std::to_string(now_ms_) + ":" + std::to_string(boot_ms_);
  }
  command.stdin_text = std::nullopt;
  return command;
}

void HostRig::launch(const std::string& fault) {
  if (host_) old_logs_ += host_->output(Stream::err);
  host_.reset();
  std::ofstream(path("kruxos.yaml")) << config_text;
  host_ = std::make_unique<Process>(host_command(fault));
}

void HostRig::await_ready() {
  if (!host_->wait_for_line("ready http://", milliseconds(60000))) {
    throw std::runtime_error("the host did not start: " + tail(log()));
  }
  std::ifstream file(data() / "ports.json");
  std::stringstream ports;
  ports << file.rdbuf();
  const auto document = parse(ports.str());
  gateway_port_ = static_cast<std::uint16_t>(number_at(document, "/gateway"));
  health_port_ = static_cast<std::uint16_t>(number_at(document, "/health"));
}

void HostRig::start(const std::string& fault) {
  launch(fault);
  await_ready();
}

ExitStatus HostRig::await_end(milliseconds timeout) {
  const auto status = host_->wait(timeout);
  if (!status) throw std::runtime_error("the host did not end: " + tail(log()));
  return *status;
}

ExitStatus HostRig::stop(milliseconds timeout) {
  host_->signal(SIGTERM);
  return await_end(timeout);
}

void HostRig::begin(const std::string& fault) {
  start(fault);
  connect_account();
  if (!eventually([this] { return synced(); }, milliseconds(30000))) {
    throw std::runtime_error("the first sync did not end: " + tail(log()));
  }
  key = new_agent("assistant");
}

// --- time

void HostRig::settle() {
  std::optional<std::uint64_t> before;
  int rests = 0;
  eventually(
      [&] {
        const auto host = alive() ? family_at_rest(host_->pid()) : std::optional<std::uint64_t>(0);
        const auto theirs = at_rest(service().process().pid());
        const auto now = host && theirs ? std::optional(*host + *theirs) : std::nullopt;
        rests = now && now == before ? rests + 1 : 0;
        before = now;
        return rests >= 2;
      },
      milliseconds(700));
}

void HostRig::advance(std::int64_t ms) {
  settle();
  now_ms_ += ms;
  boot_ms_ += ms;
  service().advance_ms(ms);
  if (alive() && host_->write_stdin("advance " + std::to_string(ms) + "\n")) {
    // No answer: it died of what became due.
    host_->wait_for_line("clock ", milliseconds(20000));
  }
  settle();
}

bool HostRig::pass_time(const std::function<bool()>& until, std::int64_t limit_ms, std::int64_t step_ms) {
  settle();
  for (std::int64_t passed = 0; !until(); passed += step_ms) {
    if (passed >= limit_ms) return false;
    advance(step_ms);
  }
  return true;
}

// --- the service

void HostRig::check_contract() {
  std::ofstream(path("requests.json")) << text_of(service().log());
  const auto done =
      run({.argv = {KRUXOS_PYTHON, served_.contract_test.string(), "--log", path("requests.json").string()}});
  INFO(done.out << done.err);
  constexpr int kSkipped = 77;
  CHECK((done.status.code == 0 || done.status.code == kSkipped));
}

}  // namespace krux::test
