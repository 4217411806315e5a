#include "support/emulator_process.hpp"

#include <stdexcept>

namespace krux::test {

EmulatorProcess::EmulatorProcess(const Start& start) : name_(start.program.substr(start.program.rfind('/') + 1)) {
  Command command;
  command.argv = {start.program, "--port", "0", "--die-with-parent"};
  for (const std::string& token : start.tokens) command.argv.insert(command.argv.end(), {"--token", token});
  if (start.driven_clock) {
    command.argv.insert(command.argv.end(), {"--clock", "driven", "--start-ms", std::to_string(start.start_ms)});
  }
  command.argv.insert(command.argv.end(), start.arguments.begin(), start.arguments.end());
  process_ = std::make_unique<Process>(command);
  const auto ready = process_->wait_for_line("ready http://127.0.0.1:");
  if (!ready) throw std::runtime_error(name_ + " did not start: " + process_->output(Stream::err));
  port_ = static_cast<std::uint16_t>(std::stoi(ready->substr(ready->rfind(':') + 1)));
}

rapidjson::Document EmulatorProcess::control(const std::string& verb, const std::string& what,
                                             const std::string& json) {
  const HttpReply reply = http_request(port_, verb, "/_emulator/" + what, {{"content-type", "application/json"}}, json,
                                       std::chrono::milliseconds(60000));
  if (reply.status != 200) throw std::runtime_error(name_ + " refused " + what + ": " + reply.body);
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(reply.body.data(), reply.body.size());
  if (document.HasParseError()) throw std::runtime_error(name_ + " answered no JSON: " + reply.body);
  return document;
}

int EmulatorProcess::release(bool answer) {
  return control("POST", "release", answer ? R"({"answer":true})" : "{}")["applied"].GetInt();
}

void EmulatorProcess::set_ms(std::int64_t now_ms) {
  control("POST", "clock", "{\"set_ms\":" + std::to_string(now_ms) + "}");
}

void EmulatorProcess::advance_ms(std::int64_t by_ms) {
  control("POST", "clock", "{\"advance_ms\":" + std::to_string(by_ms) + "}");
}

rapidjson::Document EmulatorProcess::log(const std::string& method) {
  return control("GET", method.empty() ? "log" : "log?" + form_encode({{"method", method}}));
}

std::int64_t EmulatorProcess::state_number(std::initializer_list<std::string> path) {
  const rapidjson::Document document = state();
  const rapidjson::Value* at = &document;
  for (const std::string& key : path) {
    auto found = at->FindMember(key.c_str());
    if (found == at->MemberEnd()) return 0;
    at = &found->value;
  }
  return at->GetInt64();
}

std::int64_t EmulatorProcess::calls(const std::string& method) {
  return state_number({"methods", method, "calls"});
}
std::int64_t EmulatorProcess::max_per_minute(const std::string& method) {
  return state_number({"methods", method, "max_per_minute"});
}
std::int64_t EmulatorProcess::hanging() {
  return state_number({"hanging"});
}
std::int64_t EmulatorProcess::pending_effects() {
  return state_number({"pending_effects"});
}

}  // namespace krux::test
