#include "core/definition/definition_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/definition/access_parser.hpp"
#include "core/definition/base_url.hpp"
#include "core/definition/capability_parser.hpp"
#include "core/definition/correspondence_parser.hpp"
#include "core/definition/limit_parser.hpp"
#include "core/definition/oauth_parser.hpp"
#include "core/definition/prompt_parser.hpp"
#include "core/definition/quota_rules.hpp"
#include "core/definition/resource_parser.hpp"
#include "core/definition/token_pattern.hpp"
#include "core/util/durations.hpp"
#include "core/util/error.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"
#include "core/util/yaml_value.hpp"

namespace krux {
namespace {

std::string parse_plain_name(const YamlValue& value) {
  auto name = value.text();
  if (!is_plain_name(name))
    value.fail(fmt::format("\"{}\" is not accepted: small letters, digits and _, at most 32, a letter first.",
                           printable(name)));
  return name;
}

using Version = std::array<int, 3>;

Version parse_version(const YamlValue& value) {
  const auto text = value.text(40);
  Version version{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < 3; ++i) {
    const auto parsed = std::from_chars(at, end, version[i]);
    const bool separated = i == 2 ? parsed.ptr == end : parsed.ptr != end && *parsed.ptr == '.';
    if (parsed.ec != std::errc() || version[i] < 0 || !separated)
      value.fail(fmt::format("\"{}\" is not a version: three numbers are expected, such as 1.0.0.", printable(text)));
    at = parsed.ptr + 1;
  }
  return version;
}

void parse_adapter(const YamlValue& value, ServiceDefinition& definition) {
  const YamlMap map(value, {"min_version", "below_version"});
  const auto least = map.at("min_version");
  const auto from = parse_version(least);
  definition.adapter_min_version = least.text();
  if (auto v = map.find("below_version")) {
    if (parse_version(*v) <= from) v->fail("below_version must be above min_version.");
    definition.adapter_max_version = v->text();
  }
}

void parse_connect(const YamlValue& value, ServiceDefinition& definition) {
  const YamlMap map(value, {"scopes", "token_pattern", "help"});
  if (auto v = map.find("scopes")) definition.connect_scopes = v->lines(100);
  if (auto v = map.find("token_pattern")) {
    definition.connect_token_pattern = v->line(200);
    try {
      const TokenPattern compiled(definition.connect_token_pattern);
    } catch (const TokenPattern::Unfit& problem) {
      v->fail(problem.what());
    }
  }
  definition.connect_help = map.at("help").text(8000);
}

RecoveryAction parse_action(const YamlValue& value, const ServiceDefinition& definition) {
  const YamlMap map(value, {"action", "description", "capability"});
  RecoveryAction action;
  action.action = parse_plain_name(map.at("action"));
  action.description = map.at("description").line(1000);
  if (auto v = map.find("capability")) {
    action.capability = v->line(100);
    std::vector<std::string> names;
    for (const auto& c : definition.capabilities) names.push_back(c.name);
    const bool is_own =
        action.capability == definition.prefix || action.capability.starts_with(definition.prefix + ".");
    if (is_own && !definition.find(action.capability))
      v->fail(fmt::format("\"{}\" is not a capability of this definition{}.", printable(action.capability),
                          did_you_mean(action.capability, names)));
  }
  return action;
}

void parse_recovery(const YamlValue& value, ServiceDefinition& definition) {
  for (const auto& [key, actions] : value.entries()) {
    const auto type = key.text(100);
    if (!ErrorType::is_name(type))
      key.fail(fmt::format("\"{}\" is not an error type, such as MessageNotFound.", printable(type)));
    for (const auto& item : actions.list(16)) definition.recovery[type].push_back(parse_action(item, definition));
  }
}

void parse_schema(const YamlMap& map, ServiceDefinition& definition) {
  const auto schema = map.at("schema");
  definition.schema_version = schema.integer(1, 1'000'000);
  if (definition.schema_version > kDefinitionSchema)
    schema.fail(
        fmt::format("this definition has schema {}, this program reads schema {}; install a newer version of "
                    "the program, or the definition that came with this one.",
                    definition.schema_version, kDefinitionSchema));
}

void parse_identity(const YamlMap& map, ServiceDefinition& definition) {
  definition.service = parse_plain_name(map.at("service"));
  definition.prefix = definition.service;
  if (auto v = map.find("prefix")) definition.prefix = parse_plain_name(*v);
  for (const char* taken : {"proxy", "state", "alerts", "agent"}) {
    if (definition.prefix == taken)
      map.at(map.find("prefix") ? "prefix" : "service").fail("this prefix is the host's own; choose another one.");
  }
  definition.display_name = map.at("display_name").line(100);
  definition.description = map.at("description").line(1000);
  const auto version = map.at("version");
  parse_version(version);
  definition.version = version.text();
}

void parse_network(const YamlMap& map, ServiceDefinition& definition) {
  const auto url = map.at("api_base_url");
  definition.api_base_url = url.text();
  if (const auto why = why_not_base_url(definition.api_base_url); !why.empty()) url.fail(why);
  if (auto v = map.find("hosts")) {
    definition.hosts = v->lines(64);
    for (std::size_t i = 0; i < definition.hosts.size(); ++i) {
      if (const auto why = why_not_host(definition.hosts[i]); !why.empty()) v->list()[i].fail(why);
    }
  }
  if (auto v = map.find("quota")) definition.quota = parse_quota(*v);
  if (auto v = map.find("accounts")) definition.accounts = parse_accounts(*v);
  if (auto v = map.find("auth")) definition.auth = parse_auth(*v, definition.accounts);
  if (auto v = map.find("http")) definition.safe_posts = parse_safe_posts(*v);
  if (auto v = map.find("hosts_from")) {
    definition.hosts_from = parse_plain_name(*v);
    if (!definition.needs_no_token()) v->fail("hosts of the configuration are for services with \"auth: none\" alone.");
  }
}

/// There is nobody to ask for a token, nor accounts to tell apart.
void check_without_token(const YamlMap& map, const ServiceDefinition& definition) {
  if (!definition.needs_no_token()) return;
  for (const char* key : {"connect", "oauth", "accounts"}) {
    if (map.find(key))
      map.at(key).fail("a service with \"auth: none\" is connected by the configuration; remove this section.");
  }
}

void parse_times(const YamlMap& map, ServiceDefinition& definition) {
  if (auto v = map.find("sync_interval")) definition.sync_interval_ms = v->duration_ms(kSecond, kDay);
  if (auto v = map.find("rollback_retention")) definition.rollback_retention_ms = v->duration_ms(kMinute, 365 * kDay);
  if (auto v = map.find("call_timeout")) definition.call_timeout_ms = v->duration_ms(kSecond, 10 * kMinute);
}

}  // namespace

bool is_member_path(std::string_view text) {
  const auto dot = text.find('.');
  return is_plain_name(text.substr(0, dot)) && (dot == std::string_view::npos || is_plain_name(text.substr(dot + 1)));
}

bool is_plain_name(std::string_view text) {
  if (text.empty() || text.size() > 32 || text[0] < 'a' || text[0] > 'z') return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

ServiceDefinition parse_definition(std::string_view text, const std::string& name) {
  const auto root = parse_yaml(text, name);
  const YamlMap map(
      YamlValue(root, name, ""),
      {"schema",       "service",   "prefix",        "display_name",       "description",  "version", "adapter",
       "api_base_url", "hosts",     "sync_interval", "rollback_retention", "call_timeout", "quota",   "limits",
       "on_exceed",    "connect",   "oauth",         "capabilities",       "recovery",     "auth",    "accounts",
       "http",         "resources", "prompts",       "correspondence",     "hosts_from"});
  ServiceDefinition definition;
  parse_schema(map, definition);
  parse_identity(map, definition);
  parse_adapter(map.at("adapter"), definition);
  parse_network(map, definition);
  parse_times(map, definition);
  if (auto v = map.find("connect")) parse_connect(*v, definition);
  definition.capabilities = parse_capabilities(map.at("capabilities"), definition.prefix);
  if (auto v = map.find("resources")) definition.resources = parse_resources(*v, definition);
  if (auto v = map.find("prompts")) definition.prompts = parse_prompts(*v, definition);
  if (auto v = map.find("correspondence")) definition.correspondence = parse_correspondence(*v);
  if (auto v = map.find("oauth")) definition.oauth = parse_oauth(*v, definition);
  check_without_token(map, definition);
  if (auto v = map.find("limits")) definition.limits = parse_limits(*v, definition);
  if (auto v = map.find("on_exceed")) definition.escalate_on_exceed = parse_on_exceed(*v);
  if (auto v = map.find("recovery")) parse_recovery(*v, definition);
  return definition;
}

ServiceDefinition load_definition(const std::filesystem::path& file) {
  auto definition = parse_definition(read_text_file(file, Writers::kTrusted), file.string());
  if (file.filename() != definition.service + ".yaml")
    throw ConfigError(fmt::format("{}: it defines the service \"{}\", so its name must be {}.yaml.", file.string(),
                                  definition.service, definition.service));
  return definition;
}

}  // namespace krux
