#include "host/test_host/test_host.hpp"

#include <fmt/format.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "core/util/error.hpp"
#include "core/util/json_out.hpp"
#include "host/cli/secret_body.hpp"
#include "host/http/http_types.hpp"
#include "host/test_host/configuration.hpp"

namespace krux {
namespace {

using Kind = TestedService::Kind;

std::string text_of(const JsonValue& object, const char* name) {
  return std::string(find_string(object, name).value_or(""));
}

const JsonValue& items(const JsonValue& object, const char* name) {
  static const JsonValue none(rapidjson::kArrayType);
  const auto* found = find_member(object, name);
  return found && found->IsArray() ? *found : none;
}

/// What an account must have of its own, made up for a mock: nothing is sent anywhere.
std::string made_up_address(const AccountTerms& terms) {
  if (terms.base_url != AccountTerms::BaseUrl::kRequired) return {};
  auto host = terms.base_hosts.empty() ? "test.example" : terms.base_hosts.front();
  if (host.starts_with("*")) host.replace(0, 1, "test");
  return "https://" + host + "/";
}

std::map<std::string, std::string> made_up_settings(const AccountTerms& terms) {
  std::map<std::string, std::string> settings;
  for (const auto& setting : terms.settings) {
    if (setting.required) settings[setting.name] = setting.one_of.empty() ? "test" : setting.one_of.front();
  }
  return settings;
}

struct ReadyLine {
  std::string url, health, control;
};

ReadyLine parts_of(const std::string& line) {
  std::istringstream in(line);
  ReadyLine parts;
  std::string word;
  in >> word >> parts.url >> word >> parts.health >> word;
  std::getline(in >> std::ws, parts.control);
  return parts;
}

std::string port_of(const std::string& url) {
  return url.substr(url.rfind(':') + 1);
}

std::string error_json(const std::string& sentence) {
  return fmt::format(R"({{"error":{}}})", json_string(sentence));
}

}  // namespace

TestHost::TestHost(const cli::TestHostOptions& options)
    : options_(options),
      log_(options.log.empty() ? directory_.path() / "kruxosd.log" : std::filesystem::path(options.log)) {
  services_ = fill(directory_.path(), options_);
  if (options_.driven_time) clock_ = ClockTimes{SystemClock().wall_ms(), SystemClock().boot_ms()};
  start();
  refuse_problems();
  for (const auto& service : services_) {
    if (!service.token.empty()) connect(service);
  }
  for (const auto& service : services_) {
    if (service.has_records && !service.token.empty()) await_records(service);
  }
  for (const auto& name : options_.agents.empty() ? std::vector<std::string>{"tester"} : options_.agents)
    make_agent(name);
}

TestHost::~TestHost() {
  if (child_) child_->stop();
}

void TestHost::start() {
  HostChild::Start start{directory_.path() / "kruxos.yaml", log_, options_.settings, clock_};
  if (child_) {
    const auto before = parts_of(child_->ready_line());
    start.settings.push_back("server.port=" + port_of(before.url));
    start.settings.push_back("server.health_port=" + port_of(before.health));
  }
  child_ = std::make_unique<HostChild>(start);
}

/// Whatever a host that is used would go on with, a test would only be misled by.
void TestHost::refuse_problems() const {
  const auto plugins = control().get("/v1/plugins");
  for (const auto& plugin : items(plugins.json, "plugins").GetArray()) {
    if (text_of(plugin, "state") != "loaded")
      throw ConfigError(fmt::format("{}: {}", std::filesystem::path(text_of(plugin, "file")).filename().string(),
                                    text_of(plugin, "reason")));
  }
  const auto alerts = control().get("/v1/alerts");
  for (const auto& alert : items(alerts.json, "alerts").GetArray()) throw ConfigError(text_of(alert, "message"));
}

void TestHost::connect(const TestedService& service) {
  const auto& definition = *service.definition;
  const bool mock = service.kind == Kind::kMock;
  const auto body =
      cli::secret_body({{"token", service.token}, {"base_url", mock ? made_up_address(definition.accounts) : ""}},
                       mock ? made_up_settings(definition.accounts) : std::map<std::string, std::string>{});
  const auto answer = control().post("/v1/connections/" + url_encode(definition.service), as_view(body));
  if (const auto* connection = find_member(answer.json, "connection"))
    accounts_[definition.service] = text_of(*connection, "account_id");
}

/// What a test reads first should be there. A mock whose sync fails by its script has none.
void TestHost::await_records(const TestedService& service) const {
  using Steady = std::chrono::steady_clock;
  for (const auto until = Steady::now() + std::chrono::seconds(10); Steady::now() < until;
       std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
    const auto status = control().get("/v1/status");
    for (const auto& one : items(status.json, "services").GetArray()) {
      if (text_of(one, "service") != service.definition->service) continue;
      if (find_int(one, "synced_at_ms").value_or(0) > 0 || !text_of(one, "problem").empty()) return;
    }
  }
}

std::string TestHost::make_agent(const std::string& name) {
  const auto body = fmt::format(R"({{"name":{}}})", json_string(name));
  agents_.emplace_back(name, text_of(control().post("/v1/agents", body).json, "key"));
  return json_object([&](JsonWriter& out) {
    put(out, "agent", name);
    put(out, "key", agents_.back().second);
  });
}

std::string TestHost::ready_json() const {
  const auto parts = parts_of(child_->ready_line());
  return json_object([&](JsonWriter& out) {
    put(out, "url", parts.url);
    put(out, "rpc", parts.url + "/rpc");
    put(out, "mcp", parts.url + "/mcp");
    put(out, "health", parts.health);
    put(out, "control", parts.control);
    put(out, "directory", directory_.path().string());
    put(out, "log", log_.string());
    if (clock_) put(out, "clock_ms", clock_->wall_ms);
    put(out, "agent", agents_.front().first);
    put(out, "key", agents_.front().second);
    put_objects(out, "agents", agents_, [&](const auto& agent) {
      put(out, "agent", agent.first);
      put(out, "key", agent.second);
    });
    put_objects(out, "services", services_, [&](const TestedService& service) {
      const auto& name = service.definition->service;
      put(out, "service", name);
      put(out, "adapter", to_string(service.kind));
      const auto account = accounts_.find(name);
      put(out, "connected", account != accounts_.end() || service.definition->needs_no_token());
      if (account != accounts_.end()) put(out, "account_id", account->second);
      if (service.kind != Kind::kMock) return;
      put(out, "script", service.script.string());
      put(out, "journal", service.script.string() + ".journal");
    });
  });
}

std::string TestHost::advance(const std::string& time) {
  if (!clock_) return error_json("This host's time is the system's: start it with --driven-time to move it.");
  clock_ = child_->advance(time_in_ms(time));
  return fmt::format(R"({{"clock_ms":{}}})", clock_->wall_ms);
}

std::string TestHost::run(const std::string& line) {
  std::istringstream in(line);
  std::string word, rest;
  in >> word;
  std::getline(in >> std::ws, rest);
  try {
    if (word == "kill" && rest.empty()) {
      killed_ = true;
      child_->kill();
      return R"({"killed":true})";
    }
    if (word == "start" && rest.empty()) {
      if (child_->running()) return error_json("The host runs. What ends it as a power cut does: kill");
      start();
      killed_ = false;
      return ready_json();
    }
    if (word == "advance" || word == "agent") {
      if (!child_->running()) return error_json("The host was killed. What starts it again: start");
      return word == "advance" ? advance(rest) : make_agent(rest);
    }
  } catch (const std::exception& error) {
    return error_json(error.what());
  }
  return error_json("There is no such line. Lines are: advance TIME, agent NAME, kill, start.");
}

std::string TestHost::unexpected_end() {
  return killed_ || child_->running() ? "" : child_->end_in_words();
}

}  // namespace krux
