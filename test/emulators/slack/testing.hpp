// For the emulator's own tests: a workspace that is called without sockets.
#pragma once

#include <stdexcept>

#include "emulators/slack/api.hpp"
#include "emulators/slack/seed.hpp"

namespace krux::test::slack {

constexpr std::int64_t kNow = 1700000000000;
constexpr const char* kToken = "xoxb-test";

inline Settings driven_settings(std::vector<std::string> tokens = {kToken}) {
  Settings settings;
  settings.tokens = std::move(tokens);
  settings.clock = EmulatorClock::driven(kNow);
  return settings;
}

using Parameters = std::map<std::string, std::string>;

struct Answered {
  int status = 0;
  rapidjson::Document body;
  HttpAnswer http;

  bool ok() const { return flag_or(body, "ok"); }
  std::string error() const { return text_or(body, "error"); }
  std::string text(const char* key) const { return text_or(body, key); }
  std::string cursor() const {
    const rapidjson::Value* metadata = find_member(body, "response_metadata");
    return metadata ? text_or(*metadata, "next_cursor") : "";
  }
  // The `key` of each item of a list, joined by spaces.
  std::string column(const char* list, const char* key) const {
    std::string joined;
    const rapidjson::Value* items = find_member(body, list);
    if (!items) return "absent";
    for (const auto& item : items->GetArray()) joined += (joined.empty() ? "" : " ") + text_or(item, key);
    return joined;
  }
  const rapidjson::Value& item(const char* list, rapidjson::SizeType index) const { return body[list][index]; }
};

// Calls the methods straight, past HTTP, faults and limits.
class Caller {
 public:
  explicit Caller(Settings settings = driven_settings()) : state(std::move(settings)) {}

  Answered operator()(const std::string& method, const Parameters& parameters = {}, const std::string& token = kToken) {
    Call call;
    call.verb = "POST";
    call.method = method;
    call.params = parameters;
    call.token = token;
    Answered answered;
    answered.http = run_method({*state.workspace, state.tokens, state.behaviour}, call, state.clock.now_ms(), 0).http;
    answered.status = answered.http.status;
    parse_json(answered.http.body, answered.body);
    return answered;
  }

  void seed(const char* json) {
    rapidjson::Document document;
    JsonOut out;
    std::string problem;
    parse_json(json, document);
    out.object();
    if (!krux::test::slack::seed(*state.workspace, document, state.clock.now_ms(), out, problem)) {
      throw std::runtime_error(problem);
    }
  }

  State state;
};

}  // namespace krux::test::slack
