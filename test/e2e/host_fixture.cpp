#include "host_fixture.hpp"

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

constexpr const char* kWorkspace = R"({
  "users": [{"id": "U0ALICE0001", "name": "alice", "real_name": "Alice Nguyen"},
            {"id": "U0BOB000001", "name": "bob", "real_name": "Bob Okafor"}],
  "channels": [
    {"id": "C0GENERAL01", "name": "general", "topic": "Company-wide", "num_members": 2, "messages": [
      {"user": "U0ALICE0001", "text": "The release train leaves at nine.", "ts": "1699990000.000100",
       "replies": [{"user": "U0BOB000001", "text": "On board.", "ts": "1699990060.000100"}]},
      {"user": "U0BOB000001", "text": "Who has the <key> & the map?", "ts": "1699990100.000100"},
      {"user": "U0ALICE0001", "text": "I do.", "ts": "1699990200.000100"}]},
    {"id": "C0RANDOM001", "name": "random", "num_members": 2, "messages": [
      {"user": "U0BOB000001", "text": "Lunch at noon?", "ts": "1699990300.000100"}]}]})";

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
  if (apart) options.slack += kInItsOwnProcess;
  return options;
}

// --- the host

Rig::Rig(RigOptions options) : options_(std::move(options)) {
  SlackEmulatorOptions service;
  service.tokens = {options_.scopes.empty() ? kToken : std::string(kToken) + ":" + options_.scopes};
  service.tokens.insert(service.tokens.end(), options_.tokens.begin(), options_.tokens.end());
  service.driven_clock = options_.driven;
  service.start_ms = now_ms_;
  service.arguments = options_.emulator;
  slack_ = std::make_unique<SlackEmulator>(service);
  if (options_.seed) slack_->seed(kWorkspace);
  prepare();
}

void Rig::prepare() {
  for (const char* name : {"keys", "adapters", "definitions", "home"}) {
    std::filesystem::create_directory(path(name));
    std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
  }
  support::copy_safe(KRUXOS_SLACK_ADAPTER, path("adapters/slack.so"));
  support::copy_safe(KRUXOS_SLACK_DEFINITION, path("definitions/slack.yaml"));
  config_text =
      "data_dir: " + data().string() + "\nplugins_dir: " + path("adapters").string() +
      "\ndefinitions_dir: " + path("definitions").string() + "\nvault_key_file: " + path("keys/vault.key").string() +
      "\nserver: {port: 0, health_port: 0}\nlog: {level: debug}\n" +
      "services:\n  slack:\n    api_base_url: " + slack_->api_base_url() + "\n" + options_.slack + options_.config;
}

Command Rig::host_command(const std::string& fault) const {
  Command command;
  command.argv = options_.launcher;
  command.argv.insert(command.argv.end(), {KRUXOS_TEST_HOST, "--config", path("kruxos.yaml").string()});
  command.inherit_env = false;
  command.env = plain_environment(path("home"));
  command.env.insert(options_.env.begin(), options_.env.end());
  if (!fault.empty()) command.env["KRUXOS_TEST_FAULT"] = fault;
  if (options_.driven) {
    command.env["KRUXOS_TEST_CLOCK"] = "driven:" + std::to_string(now_ms_) + ":" + std::to_string(boot_ms_);
  }
  command.stdin_text = std::nullopt;
  return command;
}

void Rig::launch(const std::string& fault) {
  if (host_) old_logs_ += host_->output(Stream::err);
  host_.reset();
  std::ofstream(path("kruxos.yaml")) << config_text;
  host_ = std::make_unique<Process>(host_command(fault));
}

void Rig::await_ready() {
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

void Rig::start(const std::string& fault) {
  launch(fault);
  await_ready();
}

ExitStatus Rig::await_end(milliseconds timeout) {
  const auto status = host_->wait(timeout);
  if (!status) throw std::runtime_error("the host did not end: " + tail(log()));
  return *status;
}

ExitStatus Rig::stop(milliseconds timeout) {
  host_->signal(SIGTERM);
  return await_end(timeout);
}

void Rig::begin() {
  start();
  connect();
  if (!eventually([this] { return synced(); }, milliseconds(30000))) {
    throw std::runtime_error("the first sync did not end: " + tail(log()));
  }
  key = new_agent("assistant");
}

// --- time

void Rig::settle() {
  std::optional<std::uint64_t> before;
  int rests = 0;
  eventually(
      [&] {
        const auto host = alive() ? family_at_rest(host_->pid()) : std::optional<std::uint64_t>(0);
        const auto service = at_rest(slack_->process().pid());
        const auto now = host && service ? std::optional(*host + *service) : std::nullopt;
        rests = now && now == before ? rests + 1 : 0;
        before = now;
        return rests >= 2;
      },
      milliseconds(700));
}

void Rig::advance(std::int64_t ms) {
  settle();
  now_ms_ += ms;
  boot_ms_ += ms;
  slack_->advance_ms(ms);
  if (alive() && host_->write_stdin("advance " + std::to_string(ms) + "\n")) {
    // No answer: it died of what became due.
    host_->wait_for_line("clock ", milliseconds(20000));
  }
  settle();
}

bool Rig::pass_time(const std::function<bool()>& until, std::int64_t limit_ms, std::int64_t step_ms) {
  settle();
  for (std::int64_t passed = 0; !until(); passed += step_ms) {
    if (passed >= limit_ms) return false;
    advance(step_ms);
  }
  return true;
}

// --- the service

std::int64_t Rig::posts_of(const std::string& text) {
  std::int64_t count = 0;
  for (const char* channel : {kGeneral, kRandom}) {
    const auto document = slack_->messages(channel);
    for (const auto& message : document["messages"].GetArray()) count += text_at(message, "/text") == text;
  }
  return count;
}

void Rig::check_contract() {
  std::ofstream(path("requests.json")) << text_of(slack_->log());
  const auto done = run({.argv = {KRUXOS_PYTHON, KRUXOS_SLACK_SPEC_TEST, "--log", path("requests.json").string()}});
  INFO(done.out << done.err);
  constexpr int kSkipped = 77;
  CHECK((done.status.code == 0 || done.status.code == kSkipped));
}

}  // namespace krux::test
