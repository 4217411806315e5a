#include "support/slack_emulator.hpp"

#include <stdexcept>

namespace krux::test {
namespace {

// The number at a path of keys; 0 where there is none.
std::int64_t number_at(const rapidjson::Value& document, std::initializer_list<std::string> path) {
  const rapidjson::Value* at = &document;
  for (const std::string& key : path) {
    auto found = at->FindMember(key.c_str());
    if (found == at->MemberEnd()) return 0;
    at = &found->value;
  }
  return at->GetInt64();
}

}  // namespace

SlackEmulator::SlackEmulator(SlackEmulatorOptions options) {
  Command command;
  command.argv = {options.program.empty() ? KRUXOS_SLACK_EMULATOR : options.program, "--port", "0",
                  "--die-with-parent"};
  for (const std::string& token : options.tokens) {
    command.argv.insert(command.argv.end(), {"--token", token});
  }
  if (options.driven_clock) {
    command.argv.insert(command.argv.end(), {"--clock", "driven", "--start-ms", std::to_string(options.start_ms)});
  }
  command.argv.insert(command.argv.end(), options.arguments.begin(), options.arguments.end());
  process_ = std::make_unique<Process>(command);
  const auto ready = process_->wait_for_line("ready http://127.0.0.1:");
  if (!ready) throw std::runtime_error("slack-emulator did not start: " + process_->output(Stream::err));
  port_ = static_cast<std::uint16_t>(std::stoi(ready->substr(ready->rfind(':') + 1)));
  bare_token_ = options.tokens.empty() ? "xoxb-test-token" : options.tokens[0].substr(0, options.tokens[0].find(':'));
}

std::string SlackEmulator::api_base_url() const {
  return origin() + "/api/";
}

std::string SlackEmulator::origin() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

rapidjson::Document SlackEmulator::control(const std::string& verb, const std::string& what, const std::string& json) {
  const HttpReply reply = http_request(port_, verb, "/_emulator/" + what, {{"content-type", "application/json"}}, json);
  if (reply.status != 200) throw std::runtime_error("slack-emulator refused " + what + ": " + reply.body);
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(reply.body.data(), reply.body.size());
  if (document.HasParseError()) throw std::runtime_error("slack-emulator answered no JSON: " + reply.body);
  return document;
}

int SlackEmulator::release(bool answer) {
  return control("POST", "release", answer ? R"({"answer":true})" : "{}")["applied"].GetInt();
}

void SlackEmulator::set_ms(std::int64_t now_ms) {
  control("POST", "clock", "{\"set_ms\":" + std::to_string(now_ms) + "}");
}

void SlackEmulator::advance_ms(std::int64_t by_ms) {
  control("POST", "clock", "{\"advance_ms\":" + std::to_string(by_ms) + "}");
}

rapidjson::Document SlackEmulator::log(const std::string& method) {
  return control("GET", method.empty() ? "log" : "log?" + form_encode({{"method", method}}));
}

rapidjson::Document SlackEmulator::messages(const std::string& channel) {
  return control("GET", "messages?" + form_encode({{"channel", channel}}));
}

std::int64_t SlackEmulator::calls(const std::string& method) {
  return number_at(state(), {"methods", method, "calls"});
}

std::int64_t SlackEmulator::max_per_minute(const std::string& method) {
  return number_at(state(), {"methods", method, "max_per_minute"});
}

std::int64_t SlackEmulator::posted(const std::string& write_id) {
  return number_at(state(), {"markers", write_id, "posted"});
}

std::int64_t SlackEmulator::live(const std::string& write_id) {
  return number_at(state(), {"markers", write_id, "live"});
}

std::int64_t SlackEmulator::effect(const std::string& name) {
  return number_at(state(), {"effects", name});
}
std::int64_t SlackEmulator::hanging() {
  return number_at(state(), {"hanging"});
}
std::int64_t SlackEmulator::pending_effects() {
  return number_at(state(), {"pending_effects"});
}

HttpReply SlackEmulator::call(const std::string& method, const std::map<std::string, std::string>& parameters) {
  return http_request(
      port_, "POST", "/api/" + method,
      {{"authorization", "Bearer " + bare_token_}, {"content-type", "application/x-www-form-urlencoded"}},
      form_encode(parameters));
}

}  // namespace krux::test
