#include "support/slack_emulator.hpp"

namespace krux::test {

SlackEmulator::SlackEmulator(const SlackEmulatorOptions& options)
    : EmulatorProcess({options.program.empty() ? KRUXOS_SLACK_EMULATOR : options.program, options.tokens,
                       options.driven_clock, options.start_ms, options.arguments}),
      bare_token_(options.tokens.empty() ? "xoxb-test-token"
                                         : options.tokens[0].substr(0, options.tokens[0].find(':'))) {}

std::string SlackEmulator::api_base_url() const {
  return origin() + "/api/";
}

rapidjson::Document SlackEmulator::messages(const std::string& channel) {
  return control("GET", "messages?" + form_encode({{"channel", channel}}));
}

std::int64_t SlackEmulator::posted(const std::string& write_id) {
  return state_number({"markers", write_id, "posted"});
}

std::int64_t SlackEmulator::live(const std::string& write_id) {
  return state_number({"markers", write_id, "live"});
}

std::int64_t SlackEmulator::effect(const std::string& name) {
  return state_number({"effects", name});
}

HttpReply SlackEmulator::call(const std::string& method, const std::map<std::string, std::string>& parameters) {
  return http_request(
      port(), "POST", "/api/" + method,
      {{"authorization", "Bearer " + bare_token_}, {"content-type", "application/x-www-form-urlencoded"}},
      form_encode(parameters));
}

}  // namespace krux::test
