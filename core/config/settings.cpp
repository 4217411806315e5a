#include "core/config/settings.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "core/definition/base_url.hpp"
#include "core/definition/definition_loader.hpp"
#include "core/definition/quota_rules.hpp"
#include "core/net/url.hpp"
#include "core/util/durations.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

std::filesystem::path path_of(const Given& given) {
  const std::filesystem::path path = given.value.line(4000);
  if (path == "~" || *path.begin() == "~") {
    const char* home = std::getenv("HOME");
    if (!home || !*home) given.value.fail("~ stands for the home directory, and HOME is not set.");
    return (std::filesystem::path(home) / path.lexically_relative("~")).lexically_normal();
  }
  return (given.base / path).lexically_normal();
}

std::uint16_t port_of(const Given& given) {
  return static_cast<std::uint16_t>(given.value.integer(0, 65535));
}

std::string json(const std::filesystem::path& path) {
  const auto text = path.string();  // of HOME or of the program's own place it may be no UTF-8
  return json_string(is_valid_utf8(text) ? text : printable(text));
}
std::string json(const std::vector<std::string>& texts) {
  std::string out;
  for (const auto& text : texts) out += (out.empty() ? "[" : ",") + json_string(text);
  return out.empty() ? "[]" : out + "]";
}
std::string seconds(std::int64_t ms) {
  return ms % 1000 == 0 ? fmt::format("{}", ms / 1000) : fmt::format("{}", static_cast<double>(ms) / 1000);
}

std::vector<std::int64_t> schedule_of(const Given& given) {
  std::vector<std::int64_t> schedule;
  for (const auto& item : given.value.list(16)) schedule.push_back(item.seconds_as_ms(1, 7 * kDay));
  if (schedule.empty()) given.value.fail("the list is empty; it names the waiting time before each new try.");
  return schedule;
}

/// "10.0.0.7", "10.0.0.0/8", "fd00::/8".
bool is_address_or_network(const std::string& text) {
  const auto slash = text.find('/');
  const auto address = text.substr(0, slash);
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  const bool v4 = inet_pton(AF_INET, address.c_str(), bytes.data()) == 1;
  if (!v4 && inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return false;
  if (slash == std::string::npos) return true;
  const auto digits = std::string_view(text).substr(slash + 1);
  int bits = -1;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  return parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size() && bits >= 0 &&
         bits <= (v4 ? 32 : 128);
}

std::vector<std::string> private_hosts_of(const Given& given) {
  for (const auto& item : given.value.list(100)) {
    if (!is_address_or_network(item.line(100)))
      item.fail(fmt::format("\"{}\" is not an address or a network, such as 10.0.0.7 or 10.0.0.0/8.",
                            printable(item.text())));
  }
  return given.value.lines(100);
}

std::string bind_address_of(const Given& given) {
  auto host = given.value.line(253);
  if (host.find_first_of("/:@ ") != std::string::npos && host.find("::") == std::string::npos)
    given.value.fail(fmt::format("\"{}\" is not a host name or an address to listen on.", host));
  return host;
}

/// A key of _meta as the Model Context Protocol has them, "name" or "prefix.example/name"; empty: none.
std::string meta_key_of(const Given& given) {
  auto key = given.value.text(100);
  const auto is_end = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto fits = [&](char c) { return is_end(c) || c == '.' || c == '-' || c == '_' || c == '/'; };
  const bool good = key.empty() || (std::all_of(key.begin(), key.end(), fits) && is_end(key.front()) &&
                                    is_end(key.back()) && std::count(key.begin(), key.end(), '/') <= 1);
  if (!good)
    given.value.fail(
        fmt::format("\"{}\" is no key of _meta: letters, digits, '.', '-', '_' and one '/' are accepted, "
                    "such as ifc or example.com/labels.",
                    printable(key)));
  return key;
}

/// Written in the one way that its clients compare it by.
bool is_origin(const std::string& text) {
  try {
    return parse_url(text).origin() == text;
  } catch (const Error&) {
    return false;
  }
}

std::string public_url_of(const Given& given) {
  auto text = given.value.line(300);
  if (!is_origin(text))
    given.value.fail(
        fmt::format("\"{}\" is no origin: https:// and a name in small letters, perhaps a port, and nothing behind it, "
                    "such as https://kruxos.example.com, or http://127.0.0.1:7700.",
                    printable(text)));
  return text;
}

/// Its path is often all that keeps strangers from it: it is neither shown nor part of a sentence.
std::string webhook_url_of(const Given& given) {
  auto text = given.value.line(2000);
  try {
    parse_url(text);
  } catch (const Error& error) {
    given.value.fail(fmt::format("this is no address of a webhook: {}", error.what()));
  }
  return text;
}
std::string shown_webhook(const std::string& url) {
  return json_string(url.empty() ? url : parse_url(url).origin() + "/...");
}

std::string queue_url_of(const Given& given) {
  auto text = given.value.line(2000);
  if (!(text.starts_with("https://") || text.starts_with("http://")) || text.find(' ') != std::string::npos)
    given.value.fail(
        fmt::format("\"{}\" is no address of a page, such as https://kruxos.example.com.", printable(text)));
  return text;
}

/// Of web pages: those of this machine are often at "localhost", which is no literal address.
std::vector<std::string> page_origins_of(const Given& given) {
  constexpr std::string_view named = "http://localhost", literal = "http://127.0.0.1";
  for (const auto& item : given.value.list(16)) {
    const auto text = item.line(300);
    auto origin = text;
    if (origin == named || origin.starts_with(std::string(named) + ":")) origin.replace(0, named.size(), literal);
    if (!is_origin(origin))
      item.fail(
          fmt::format("\"{}\" is no origin of web pages: https:// and a name in small letters, perhaps a port, and "
                      "nothing behind it, such as https://app.example, or http://localhost:6274.",
                      printable(text)));
  }
  return given.value.lines(16);
}

std::string list_of_seconds(const std::vector<std::int64_t>& all_ms) {
  std::string out;
  for (const auto ms : all_ms) out += (out.empty() ? "[" : ",") + seconds(ms);
  return out + "]";
}

std::string quota_json(const std::vector<QuotaRule>& rules) {
  std::string out;
  for (const auto& rule : rules) {
    out += out.empty() ? "[" : ",";
    out += fmt::format(R"({{"match":{},"per_minute":{},"burst":{},"cost":{},"per":{},"bucket":{}}})",
                       json_string(rule.match), rule.per_minute, rule.burst, rule.cost, json_string(rule.key),
                       json_string(rule.bucket));
  }
  return out.empty() ? "[]" : out + "]";
}

std::vector<Setting> directory_settings() {
  return {
      {"data_dir", false, [](const Given& g, Config& c) { c.data_dir = path_of(g); },
       [](const Config& c) { return json(c.data_dir); }},
      {"plugins_dir", false, [](const Given& g, Config& c) { c.plugins_dir = path_of(g); },
       [](const Config& c) { return json(c.plugins_dir); }},
      {"definitions_dir", false, [](const Given& g, Config& c) { c.definitions_dir = path_of(g); },
       [](const Config& c) { return json(c.definitions_dir); }},
      {"policies_dir", false, [](const Given& g, Config& c) { c.policies_dir = path_of(g); },
       [](const Config& c) { return json(c.policies_dir); }},
      {"bundles_dir", false, [](const Given& g, Config& c) { c.bundles_dir = path_of(g); },
       [](const Config& c) { return json(c.bundles_dir); }},
      {"places_dir", false, [](const Given& g, Config& c) { c.places_dir = path_of(g); },
       [](const Config& c) { return json(c.places_dir); }},
      {"vault_key_file", false, [](const Given& g, Config& c) { c.vault_key_file = path_of(g); },
       [](const Config& c) { return json(c.vault_key_file); }},
      {"vault.protection", false,
       [](const Given& g, Config& c) {
         c.vault.passphrase = g.value.choice({"key_file", "passphrase"}) == 1;
       },
       [](const Config& c) { return json_string(c.vault.passphrase ? "passphrase" : "key_file"); }},
      {"vault.argon2_passes", false, [](const Given& g, Config& c) { c.vault.argon2_passes = g.value.integer(1, 100); },
       [](const Config& c) { return fmt::format("{}", c.vault.argon2_passes); }},
      {"vault.argon2_memory_mib", false,
       [](const Given& g, Config& c) { c.vault.argon2_memory_mib = g.value.integer(16, 16384); },
       [](const Config& c) { return fmt::format("{}", c.vault.argon2_memory_mib); }},
  };
}

std::vector<Setting> server_settings() {
  return {
      {"server.host", false, [](const Given& g, Config& c) { c.server.host = bind_address_of(g); },
       [](const Config& c) { return json_string(c.server.host); }},
      {"server.port", false, [](const Given& g, Config& c) { c.server.port = port_of(g); },
       [](const Config& c) { return fmt::format("{}", c.server.port); }},
      {"server.health_port", false, [](const Given& g, Config& c) { c.server.health_port = port_of(g); },
       [](const Config& c) { return fmt::format("{}", c.server.health_port); }},
      {"server.web_port", false, [](const Given& g, Config& c) { c.server.web_port = port_of(g); },
       [](const Config& c) { return c.server.web_port ? fmt::format("{}", *c.server.web_port) : "null"; }},
      {"server.tls.certificate", false, [](const Given& g, Config& c) { c.server.tls_certificate = path_of(g); },
       [](const Config& c) { return json(c.server.tls_certificate); }},
      {"server.tls.key", false, [](const Given& g, Config& c) { c.server.tls_key = path_of(g); },
       [](const Config& c) { return json(c.server.tls_key); }},
      {"server.allow_plain_http", false,
       [](const Given& g, Config& c) { c.server.allow_plain_http = g.value.boolean(); },
       [](const Config& c) { return std::string(c.server.allow_plain_http ? "true" : "false"); }},
      {"server.connections", false,
       [](const Given& g, Config& c) { c.server.connections = g.value.integer(16, 65'536); },
       [](const Config& c) { return fmt::format("{}", c.server.connections); }},
      {"server.mcp_labels_key", false, [](const Given& g, Config& c) { c.server.mcp_labels_key = meta_key_of(g); },
       [](const Config& c) { return json_string(c.server.mcp_labels_key); }},
      {"server.allowed_origins", true, [](const Given& g, Config& c) { c.server.allowed_origins = page_origins_of(g); },
       [](const Config& c) { return json(c.server.allowed_origins); }},
      {"server.sign_in.enabled", false, [](const Given& g, Config& c) { c.server.sign_in.enabled = g.value.boolean(); },
       [](const Config& c) { return std::string(c.server.sign_in.enabled ? "true" : "false"); }},
      {"server.sign_in.public_url", false,
       [](const Given& g, Config& c) { c.server.sign_in.public_url = public_url_of(g); },
       [](const Config& c) { return json_string(c.server.sign_in.public_url); }},
      {"server.sign_in.access_token_minutes", false,
       [](const Given& g, Config& c) { c.server.sign_in.access_token_ms = g.value.integer(5, 1440) * 60'000; },
       [](const Config& c) { return fmt::format("{}", c.server.sign_in.access_token_ms / 60'000); }},
      {"server.sign_in.idle_days", false,
       [](const Given& g, Config& c) { c.server.sign_in.idle_ms = g.value.integer(1, 365) * kDay; },
       [](const Config& c) { return fmt::format("{}", c.server.sign_in.idle_ms / kDay); }},
      {"operator.agents_share_user", false,
       [](const Given& g, Config& c) { c.operators.agents_share_user = g.value.boolean(); },
       [](const Config& c) {
         const auto& shared = c.operators.agents_share_user;
         return std::string(!shared ? "null" : *shared ? "true" : "false");
       }},
      {"operator.grant_minutes", false,
       [](const Given& g, Config& c) { c.operators.grant_ms = g.value.integer(1, 60) * 60'000; },
       [](const Config& c) { return fmt::format("{}", c.operators.grant_ms / 60'000); }},
      {"operator.invite_to_page", false,
       [](const Given& g, Config& c) { c.operators.invite_to_page = g.value.boolean(); },
       [](const Config& c) { return std::string(c.operators.invite_to_page ? "true" : "false"); }},
      {"log.level", false,
       [](const Given& g, Config& c) {
         g.value.choice({"trace", "debug", "info", "warn", "error", "critical", "off"});
         c.log.level = g.value.text();
       },
       [](const Config& c) { return json_string(c.log.level); }},
      {"log.format", false,
       [](const Given& g, Config& c) {
         c.log.json = g.value.choice({"text", "json"}) == 1;
       },
       [](const Config& c) { return json_string(c.log.json ? "json" : "text"); }},
  };
}

std::vector<Setting> state_settings() {
  return {
      {"state.value_kib", false, [](const Given& g, Config& c) { c.state.value_bytes = g.value.integer(1, 512) << 10; },
       [](const Config& c) { return fmt::format("{}", c.state.value_bytes >> 10); }},
      {"state.keys", false,
       [](const Given& g, Config& c) { c.state.agent_keys = c.state.shared_keys = g.value.integer(1, 100'000); },
       [](const Config& c) { return fmt::format("{}", c.state.agent_keys); }},
      {"state.agent_mib", false,
       [](const Given& g, Config& c) { c.state.agent_bytes = g.value.integer(1, 1 << 12) << 20; },
       [](const Config& c) { return fmt::format("{}", c.state.agent_bytes >> 20); }},
      {"state.shared_mib", false,
       [](const Given& g, Config& c) { c.state.shared_bytes = g.value.integer(1, 1 << 12) << 20; },
       [](const Config& c) { return fmt::format("{}", c.state.shared_bytes >> 20); }},
      {"state.session_mib", false,
       [](const Given& g, Config& c) { c.state.session_bytes = g.value.integer(1, 64) << 20; },
       [](const Config& c) { return fmt::format("{}", c.state.session_bytes >> 20); }},
      {"state.versions", false, [](const Given& g, Config& c) { c.state.versions = g.value.integer(1, 10'000); },
       [](const Config& c) { return fmt::format("{}", c.state.versions); }},
  };
}

std::vector<Setting> work_settings() {
  return {
      {"write_buffer.default_delay_seconds", false,
       [](const Given& g, Config& c) { c.write_buffer.default_delay_ms = parse_delay(g.value); },
       [](const Config& c) { return seconds(c.write_buffer.default_delay_ms); }},
      {"write_buffer.executor_concurrency", false,
       [](const Given& g, Config& c) {
         c.write_buffer.executor_concurrency = static_cast<int>(g.value.integer(1, 64));
       },
       [](const Config& c) { return fmt::format("{}", c.write_buffer.executor_concurrency); }},
      {"write_buffer.order_wait_seconds", false,
       [](const Given& g, Config& c) { c.write_buffer.order_wait_ms = g.value.seconds_as_ms(0, kDay); },
       [](const Config& c) { return seconds(c.write_buffer.order_wait_ms); }},
      {"write_buffer.on_exceed", false,
       [](const Given& g, Config& c) {
         const auto choice = g.value.choice({"definition", "approval_required", "reject"});
         c.write_buffer.escalate_on_exceed = choice == 0 ? std::nullopt : std::optional(choice == 1);
       },
       [](const Config& c) {
         const auto& escalate = c.write_buffer.escalate_on_exceed;
         return json_string(!escalate ? "definition" : *escalate ? "approval_required" : "reject");
       }},
      {"retry.schedule_seconds", true, [](const Given& g, Config& c) { c.retry.schedule_ms = schedule_of(g); },
       [](const Config& c) { return list_of_seconds(c.retry.schedule_ms); }},
      {"retry.look_gaps_seconds", true, [](const Given& g, Config& c) { c.retry.look_gaps_ms = schedule_of(g); },
       [](const Config& c) { return list_of_seconds(c.retry.look_gaps_ms); }},
      {"retry.late_look_seconds", false,
       [](const Given& g, Config& c) { c.retry.late_look_gap_ms = g.value.seconds_as_ms(1000, kDay); },
       [](const Config& c) { return seconds(c.retry.late_look_gap_ms); }},
      {"retry.settle_seconds", false,
       [](const Given& g, Config& c) { c.retry.settle_ms = g.value.seconds_as_ms(0, kDay); },
       [](const Config& c) { return c.retry.settle_ms ? seconds(*c.retry.settle_ms) : "null"; }},
      {"uploads.max_mib", false, [](const Given& g, Config& c) { c.uploads.bytes = g.value.integer(1, 1024) << 20; },
       [](const Config& c) { return fmt::format("{}", c.uploads.bytes >> 20); }},
      {"uploads.agent_mib", false,
       [](const Given& g, Config& c) { c.uploads.agent_bytes = g.value.integer(1, 1 << 20) << 20; },
       [](const Config& c) { return fmt::format("{}", c.uploads.agent_bytes >> 20); }},
      {"uploads.keep_hours", false,
       [](const Given& g, Config& c) { c.uploads.keep_ms = g.value.integer(1, 24 * 30) * 3'600'000; },
       [](const Config& c) { return fmt::format("{}", c.uploads.keep_ms / 3'600'000); }},
      {"net.ca_file", false, [](const Given& g, Config& c) { c.net.ca_file = path_of(g); },
       [](const Config& c) { return json(c.net.ca_file); }},
      {"net.allow_private_hosts", true,
       [](const Given& g, Config& c) { c.net.allow_private_hosts = private_hosts_of(g); },
       [](const Config& c) { return json(c.net.allow_private_hosts); }},
      {"audit.key_file", false, [](const Given& g, Config& c) { c.audit.key_file = path_of(g); },
       [](const Config& c) { return json(c.audit.key_file); }},
      {"audit.anchor_file", false, [](const Given& g, Config& c) { c.audit.anchor_file = path_of(g); },
       [](const Config& c) { return json(c.audit.anchor_file); }},
      {"audit.keep_days", false, [](const Given& g, Config& c) { c.audit.keep_ms = g.value.integer(0, 36'500) * kDay; },
       [](const Config& c) { return fmt::format("{}", c.audit.keep_ms / kDay); }},
      {"audit.on_failure", false,
       [](const Given& g, Config& c) {
         c.audit.stops_reads = g.value.choice({"stop_writes", "stop_all"}) == 1;
       },
       [](const Config& c) { return json_string(c.audit.stops_reads ? "stop_all" : "stop_writes"); }},
      {"webhook.url", false, [](const Given& g, Config& c) { c.webhook.url = webhook_url_of(g); },
       [](const Config& c) { return shown_webhook(c.webhook.url); }},
      {"webhook.secret_file", false, [](const Given& g, Config& c) { c.webhook.secret_file = path_of(g); },
       [](const Config& c) { return json(c.webhook.secret_file); }},
      {"webhook.queue_url", false, [](const Given& g, Config& c) { c.webhook.queue_url = queue_url_of(g); },
       [](const Config& c) { return json_string(c.webhook.queue_url); }},
      {"webhook.details", false, [](const Given& g, Config& c) { c.webhook.details = g.value.boolean(); },
       [](const Config& c) { return std::string(c.webhook.details ? "true" : "false"); }},
      {"metrics.enabled", false, [](const Given& g, Config& c) { c.metrics.enabled = g.value.boolean(); },
       [](const Config& c) { return std::string(c.metrics.enabled ? "true" : "false"); }},
      {"worker_threads", false,
       [](const Given& g, Config& c) { c.worker_threads = static_cast<int>(g.value.integer(1, 256)); },
       [](const Config& c) { return fmt::format("{}", c.worker_threads); }},
  };
}

void apply_base_url(const Given& given, ServiceConfig& config) {
  const auto url = given.value.text();
  if (const auto why = why_not_base_url(url); !why.empty()) given.value.fail(why);
  config.api_base_url = url;
}

void apply_isolation(const Given& given, ServiceConfig& config) {
  config.isolation =
      given.value.choice_of<Isolation>({{"in_process", Isolation::kInProcess}, {"process", Isolation::kProcess}});
}

std::string url_of(const Given& given) {
  auto url = given.value.text();
  if (const auto why = why_not_url(url); !why.empty()) given.value.fail(why);
  return url;
}

std::string isolation_json(const ServiceConfig& config) {
  if (!config.isolation) return "null";
  return *config.isolation == Isolation::kProcess ? "\"process\"" : "\"in_process\"";
}

}  // namespace

const std::vector<Setting>& host_settings() {
  static const std::vector<Setting> all = [] {
    auto settings = directory_settings();
    for (const auto& more : {server_settings(), work_settings(), state_settings()})
      settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  }();
  return all;
}

const std::vector<ServiceSetting>& service_settings() {
  static const std::vector<ServiceSetting> all{
      {"enabled", false, [](const Given& g, ServiceConfig& c) { c.enabled = g.value.boolean(); },
       [](const ServiceConfig& c) { return std::string(c.enabled ? "true" : "false"); }},
      {"isolation", false, apply_isolation, isolation_json},
      {"runner.memory_mb", false,
       [](const Given& g, ServiceConfig& c) { c.runner.memory_mb = g.value.integer(64, 65'536); },
       [](const ServiceConfig& c) { return std::to_string(c.runner.memory_mb); }},
      {"runner.open_files", false,
       [](const Given& g, ServiceConfig& c) { c.runner.open_files = g.value.integer(16, 4'096); },
       [](const ServiceConfig& c) { return std::to_string(c.runner.open_files); }},
      {"api_base_url", false, apply_base_url, [](const ServiceConfig& c) { return json_string(c.api_base_url); }},
      {"oauth.authorize_url", false, [](const Given& g, ServiceConfig& c) { c.oauth.authorize_url = url_of(g); },
       [](const ServiceConfig& c) { return json_string(c.oauth.authorize_url); }},
      {"oauth.token_url", false, [](const Given& g, ServiceConfig& c) { c.oauth.token_url = url_of(g); },
       [](const ServiceConfig& c) { return json_string(c.oauth.token_url); }},
      {"oauth.revoke_url", false, [](const Given& g, ServiceConfig& c) { c.oauth.revoke_url = url_of(g); },
       [](const ServiceConfig& c) { return json_string(c.oauth.revoke_url); }},
      {"oauth.redirect_uri", false, [](const Given& g, ServiceConfig& c) { c.oauth.redirect_uri = url_of(g); },
       [](const ServiceConfig& c) { return json_string(c.oauth.redirect_uri); }},
      {"oauth.client_id", false, [](const Given& g, ServiceConfig& c) { c.oauth.client_id = g.value.line(500); },
       [](const ServiceConfig& c) { return json_string(c.oauth.client_id); }},
      {"oauth.callback_port", false, [](const Given& g, ServiceConfig& c) { c.oauth.callback_port = port_of(g); },
       [](const ServiceConfig& c) {
         return c.oauth.callback_port ? fmt::format("{}", *c.oauth.callback_port) : "null";
       }},
      {"sync_interval_seconds", false,
       [](const Given& g, ServiceConfig& c) { c.sync_interval_ms = g.value.seconds_as_ms(10, kDay); },
       [](const ServiceConfig& c) { return c.sync_interval_ms ? seconds(*c.sync_interval_ms) : "null"; }},
      {"quota", true, [](const Given& g, ServiceConfig& c) { c.quota = parse_quota_changes(g.value); },
       [](const ServiceConfig& c) { return quota_json(c.quota.value_or(std::vector<QuotaRule>{})); }},
  };
  return all;
}

bool is_adapter_shorthand(std::string_view key) {
  return key == "initial_messages_per_channel";
}

std::int64_t parse_delay(const YamlValue& value) {
  return value.seconds_as_ms(0, kLongestWindow);
}

}  // namespace krux
