// For the provider's own tests: a client and a browser without sockets.
#pragma once

#include <catch2/catch.hpp>
#include <stdexcept>

#include "emulators/common/text.hpp"
#include "emulators/oauth/provider.hpp"
#include "emulators/oauth/words.hpp"

namespace krux::test::oauth {

constexpr std::int64_t kNow = 1'700'000'000'000;
constexpr const char* kVerifier = "a-verifier-of-forty-three-characters-or-more";

inline std::string form_of(const Fields& fields) {
  std::string text;
  for (const auto& [name, value] : fields) {
    text += (text.empty() ? "" : "&") + percent_encode(name) + "=" + percent_encode(value);
  }
  return text;
}

struct Answered {
  emulator::HttpAnswer http;
  std::string error;
  rapidjson::Document body;

  std::string text(const char* key) const { return emulator::text_or(body, key); }
  std::int64_t number(const char* key) const { return emulator::number_or(body, key); }
  bool has(const char* key) const { return find_member(body, key) != nullptr; }
  std::string location() const {
    for (const auto& [name, value] : http.headers) {
      if (name == "Location") return value;
    }
    return "";
  }
  // Of the address that the browser is sent to.
  Fields landed() const {
    const std::string where = location();
    const std::size_t query = where.find('?');
    return query == std::string::npos ? Fields{} : emulator::decode_form(where.substr(query + 1));
  }
};

inline ProviderSettings settings_of(Flavour flavour) {
  ProviderSettings settings;
  settings.flavour = flavour;
  const bool slack = flavour == Flavour::slack;
  settings.people = [slack]() -> std::vector<Person> {
    if (slack)
      return {{"U0OPERATOR1", "Olga", "T0EMULATOR1", "Emulated"}, {"U0OTHER0001", "Otto", "T0ELSEWHERE", "Elsewhere"}};
    return {{"ada@example.com", "Ada", "", ""}, {"bob@example.com", "Bob", "", ""}};
  };
  settings.bot_user = "U0BOT000001";
  settings.app_id = "A0APP000001";
  return settings;
}

struct Emulated {
  explicit Emulated(Flavour flavour) : Emulated(settings_of(flavour)) {}
  explicit Emulated(ProviderSettings settings) : provider(std::move(settings), clock) {}

  Answered ask(const std::string& verb, const std::string& path, const Fields& query, const Fields& form = {},
               const std::string& authorization = "") {
    emulator::HttpRequest request;
    request.method = verb;
    request.path = path;
    request.query = form_of(query);
    if (verb == "POST") request.headers["content-type"] = "application/x-www-form-urlencoded";
    if (!authorization.empty()) request.headers["authorization"] = authorization;
    request.body = form_of(form);
    auto route = provider.route(request);
    if (!route) throw std::runtime_error(path + " is none of the provider's paths");
    emulator::Performed performed = route->work();
    Answered answered{std::move(performed.http), std::move(performed.error), {}};
    emulator::parse_json(answered.http.body, answered.body);
    return answered;
  }
  void turn(const std::string& json) {
    rapidjson::Document document;
    emulator::JsonOut out;
    std::string problem;
    emulator::parse_json(json, document);
    out.object();
    if (!provider.act(document, out, problem)) throw std::runtime_error(problem);
  }
  rapidjson::Document facts() const {
    emulator::JsonOut out;
    out.object();
    provider.write(out);
    rapidjson::Document document;
    emulator::parse_json(out.end_object().str(), document);
    return document;
  }
  std::int64_t counted(const char* name) const { return facts()["oauth"]["counters"][name].GetInt64(); }
  std::int64_t live_grants() const { return facts()["oauth"]["live_grants"].GetInt64(); }

  emulator::EmulatorClock clock = emulator::EmulatorClock::driven(kNow);
  Provider provider;
};

}  // namespace krux::test::oauth
