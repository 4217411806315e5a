#include "support/gmail_emulator.hpp"

namespace krux::test {
namespace {

std::vector<std::string> arguments_of(const GmailEmulatorOptions& options) {
  std::vector<std::string> arguments = {"--address", options.address};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  return arguments;
}

}  // namespace

GmailEmulator::GmailEmulator(const GmailEmulatorOptions& options)
    : EmulatorProcess({options.program.empty() ? KRUXOS_GMAIL_EMULATOR : options.program, options.tokens,
                       options.driven_clock, options.start_ms, arguments_of(options)}),
      bare_token_(options.tokens.empty() ? "ya29.test-token"
                                         : options.tokens[0].substr(0, options.tokens[0].find_first_of("@:;"))),
      address_(options.address) {}

std::string GmailEmulator::api_base_url() const {
  return "http://127.0.0.1:" + std::to_string(port()) + "/";
}

rapidjson::Document GmailEmulator::messages(const std::string& mailbox) {
  return control("GET", "messages?" + form_encode({{"mailbox", mailbox.empty() ? address_ : mailbox}}));
}

std::int64_t GmailEmulator::marker_count(const std::string& write_id, const std::string& what) {
  return state_number({"mailboxes", address_, "markers", write_id, what});
}

std::int64_t GmailEmulator::sent(const std::string& write_id) {
  return marker_count(write_id, "sent");
}
std::int64_t GmailEmulator::live(const std::string& write_id) {
  return marker_count(write_id, "live");
}
std::int64_t GmailEmulator::drafts(const std::string& write_id) {
  return marker_count(write_id, "drafts");
}
std::int64_t GmailEmulator::drafts_live(const std::string& write_id) {
  return marker_count(write_id, "drafts_live");
}
std::int64_t GmailEmulator::effect(const std::string& name) {
  return state_number({"mailboxes", address_, "effects", name});
}
std::int64_t GmailEmulator::units_per_minute() {
  return state_number({"mailboxes", address_, "quota", "max_per_minute"});
}

HttpReply GmailEmulator::call(const std::string& verb, const std::string& target, const std::string& json) {
  Headers headers = {{"authorization", "Bearer " + bare_token_}};
  if (!json.empty()) headers["content-type"] = "application/json";
  return http_request(port(), verb, "/gmail/v1/users/me/" + target, headers, json);
}

}  // namespace krux::test
