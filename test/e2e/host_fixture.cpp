#include "host_fixture.hpp"

#include "oauth_rig.hpp"

namespace krux::test {
namespace {

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

Served slack_of(const RigOptions& options) {
  SlackEmulatorOptions service;
  service.tokens = {options.scopes.empty() ? kToken : std::string(kToken) + ":" + options.scopes};
  service.tokens.insert(service.tokens.end(), options.tokens.begin(), options.tokens.end());
  service.driven_clock = options.driven;
  service.start_ms = kStartMs;
  service.arguments = options.emulator;
  const auto emulator = std::make_shared<SlackEmulator>(service);
  if (options.seed) emulator->seed(kWorkspace);
  Served served;
  served.name = "slack";
  served.emulator = emulator;
  served.adapter = KRUXOS_SLACK_ADAPTER;
  served.definition = KRUXOS_SLACK_DEFINITION;
  served.contract_test = KRUXOS_SLACK_SPEC_TEST;
  served.settings = "    api_base_url: " + emulator->api_base_url() + "\n";
  served.client_id = kPublicClient;
  served.secrets = {kClassicSecret};
  return served;
}

}  // namespace

Rig::Rig(const RigOptions& options) : HostRig(options, slack_of(options)) {}

void Rig::connect(const std::string& token) {
  operate({"connect", "slack"}, token + "\n");
}

Answer Rig::send(const std::string& text, const std::string& channel) {
  return invoke("slack.send", R"({"channel":")" + channel + R"(","text":")" + text + "\"}");
}

std::int64_t Rig::posts_of(const std::string& text) {
  std::int64_t count = 0;
  for (const char* channel : {kGeneral, kRandom}) {
    const auto document = slack().messages(channel);
    for (const auto& message : document["messages"].GetArray()) count += text_at(message, "/text") == text;
  }
  return count;
}

}  // namespace krux::test
