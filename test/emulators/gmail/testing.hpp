// For tests, the emulator's own and adapters': mailboxes that are called without sockets.
#pragma once

#include <stdexcept>

#include "emulators/common/outcome.hpp"
#include "emulators/gmail/api.hpp"
#include "emulators/gmail/control.hpp"

namespace krux::test::gmail {

constexpr std::int64_t kNow = 1700000000000;
constexpr const char* kToken = "ya29.test";

inline Settings driven_settings(std::vector<std::string> tokens = {kToken}) {
  Settings settings;
  settings.tokens = std::move(tokens);
  settings.clock = EmulatorClock::driven(kNow);
  return settings;
}

struct Answered {
  int status = 0;
  rapidjson::Document body;
  HttpAnswer http;
  std::string how;  // "answered", "reset", "waiting", ...

  std::string text(const char* key) const { return text_or(body, key); }
  std::string message() const { return error_text("message"); }
  std::string reason() const {
    const rapidjson::Value* error = find_member(body, "error");
    const rapidjson::Value* errors = error ? find_member(*error, "errors") : nullptr;
    return errors && errors->IsArray() && !errors->Empty() ? text_or((*errors)[0], "reason") : "";
  }
  std::string error_text(const char* key) const {
    const rapidjson::Value* error = find_member(body, "error");
    return error ? text_or(*error, key) : "";
  }
  // The `key` of each item of a list, joined by spaces.
  std::string column(const char* list, const char* key) const {
    const rapidjson::Value* items = find_member(body, list);
    if (!items) return "absent";
    std::string joined;
    for (const auto& item : items->GetArray()) joined += (joined.empty() ? "" : " ") + text_or(item, key);
    return joined;
  }
  std::string labels() const {
    const rapidjson::Value* items = find_member(body, "labelIds");
    if (!items) return "absent";
    std::string joined;
    for (const auto& item : items->GetArray()) joined += (joined.empty() ? "" : " ") + std::string(item.GetString());
    return joined;
  }
};

// The API and its control plane, called straight.
struct Emulated {
  explicit Emulated(Settings settings = driven_settings()) : state(std::move(settings)) {}

  // `target` below /gmail/v1/users/me/, with its query; an absolute one begins with "/".
  Answered call(const std::string& verb, const std::string& target, const std::string& json = "",
                const std::string& token = kToken) {
    HttpRequest request;
    request.method = verb;
    request.headers["authorization"] = "Bearer " + token;
    if (!json.empty()) request.headers["content-type"] = "application/json";
    request.body = json;
    const std::string whole = target[0] == '/' ? target : "/gmail/v1/users/me/" + target;
    request.path = whole.substr(0, whole.find('?'));
    if (whole.find('?') != std::string::npos) request.query = whole.substr(whole.find('?') + 1);
    return send(request);
  }
  Answered get(const std::string& target) { return call("GET", target); }
  Answered post(const std::string& target, const std::string& json = "") { return call("POST", target, json); }

  Answered send(const HttpRequest& request) {
    auto outcome = std::make_shared<Outcome>();
    api.handle(request, outcome);
    Answered answered;
    answered.how = outcome->how;
    answered.http = outcome->given;
    answered.status = outcome->how == "answered" ? outcome->given.status : 0;
    if (!parse_json(answered.http.body, answered.body)) answered.body.SetObject();
    return answered;
  }

  HttpAnswer tell(const std::string& verb, const std::string& what, const std::string& json = "") {
    HttpRequest request;
    request.method = verb;
    request.path = "/_emulator/" + what.substr(0, what.find('?'));
    if (what.find('?') != std::string::npos) request.query = what.substr(what.find('?') + 1);
    request.body = json;
    return control.handle(request);
  }
  // A request of the control plane that must be taken; its answer.
  rapidjson::Document told(const std::string& what, const std::string& json) {
    const HttpAnswer answer = tell("POST", what, json);
    if (answer.status != 200) throw std::runtime_error(answer.body);
    rapidjson::Document document;
    parse_json(answer.body, document);
    return document;
  }
  // The id of the message that an act made or changed.
  std::string act(const std::string& json) { return text_or(told("act", json), "id"); }

  State state;
  Api api{state, [](std::int64_t, const std::function<void()>& work) { work(); }};
  Control control{state, api};
};

}  // namespace krux::test::gmail
