#include "core/definition/oauth_parser.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/definition/base_url.hpp"
#include "core/definition/definition_loader.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

std::string url_of(const YamlValue& value) {
  auto url = value.line(2000);
  if (const auto why = why_not_url(url); !why.empty()) value.fail(why);
  return url;
}

std::string plain_name_of(const YamlValue& value) {
  auto name = value.text();
  if (!is_plain_name(name))
    value.fail(fmt::format("\"{}\" is not accepted: small letters, digits and _, at most 32, a letter first.",
                           printable(name)));
  return name;
}

/// The host sets these itself: a definition that could would undo what they are for.
bool is_hosts_own(const std::string& parameter, const OAuthFlow& flow) {
  for (const char* own : {"response_type", "client_id", "client_secret", "redirect_uri", "state", "code_challenge",
                          "code_challenge_method"}) {
    if (parameter == own) return true;
  }
  return parameter == flow.scope_parameter;
}

std::vector<std::string> scopes_of(const YamlValue& value, const OAuthDefinition& oauth) {
  auto scopes = value.lines(100);
  for (const auto& scope : scopes) {
    for (const auto& flow : oauth.flows) {
      if (scope.find(flow.scope_separator) != std::string::npos)
        value.fail(fmt::format("the scope \"{}\" contains what separates scopes in the flow {}.", printable(scope),
                               flow.name));
    }
  }
  return scopes;
}

OAuthFlow parse_flow(const YamlValue& value) {
  using ClientSecret = OAuthFlow::ClientSecret;
  const YamlMap map(value, {"name", "description", "authorize_url", "token_url", "pkce", "client_secret",
                            "scope_parameter", "scope_separator", "authorize_parameters", "token_at", "token_types",
                            "redirect", "redirect_host", "redirect_uri"});
  OAuthFlow flow;
  flow.name = plain_name_of(map.at("name"));
  flow.description = map.at("description").line(1000);
  flow.authorize_url = url_of(map.at("authorize_url"));
  flow.token_url = url_of(map.at("token_url"));
  if (auto v = map.find("pkce")) flow.pkce = v->choice_of<bool>({{"required", true}, {"none", false}});
  if (auto v = map.find("client_secret"))
    flow.client_secret = v->choice_of<ClientSecret>(
        {{"required", ClientSecret::kRequired}, {"optional", ClientSecret::kOptional}, {"none", ClientSecret::kNone}});
  if (!flow.pkce && flow.client_secret != ClientSecret::kRequired)
    value.fail("without PKCE a client secret must be required: nothing else keeps a stolen code from being used.");
  if (auto v = map.find("scope_parameter")) flow.scope_parameter = plain_name_of(*v);
  if (auto v = map.find("scope_separator")) {
    flow.scope_separator = v->text(1);
    if (flow.scope_separator != " " && flow.scope_separator != ",") v->fail("a blank or a comma is expected here.");
  }
  if (auto v = map.find("authorize_parameters")) {
    for (const auto& [key, item] : v->entries()) {
      const auto name = key.line(100);
      if (is_hosts_own(name, flow)) key.fail(fmt::format("\"{}\" is set by the host.", printable(name)));
      flow.authorize_parameters.emplace_back(name, item.line(500));
    }
  }
  if (auto v = map.find("token_at")) flow.token_at = plain_name_of(*v);
  if (auto v = map.find("token_types")) flow.token_types = v->lines(8);
  if (auto v = map.find("redirect")) flow.any_port = v->choice_of<bool>({{"loopback", true}, {"fixed", false}});
  if (auto v = map.find("redirect_host"))
    flow.redirect_host = v->choice({"127.0.0.1", "localhost"}) == 0 ? "127.0.0.1" : "localhost";
  if (auto v = map.find("redirect_uri")) {
    if (map.find("redirect") || map.find("redirect_host"))
      v->fail("redirect and redirect_host are for a redirect to this machine: leave them out, or this.");
    flow.redirect_uri = url_of(*v);
    if (!flow.redirect_uri.starts_with("https://"))
      v->fail("an https address is expected; for http to this machine there are redirect and redirect_host.");
  }
  return flow;
}

OAuthProfile parse_profile(const YamlValue& key, const YamlValue& value, const ServiceDefinition& definition,
                           const OAuthDefinition& oauth) {
  const YamlMap map(value, {"scopes", "description", "without"});
  OAuthProfile profile;
  profile.name = plain_name_of(key);
  profile.description = map.at("description").line(1000);
  const auto scopes = map.at("scopes");
  profile.scopes = scopes_of(scopes, oauth);
  if (profile.scopes.empty()) scopes.fail("the list is empty.");
  if (auto v = map.find("without")) {
    profile.without = v->lines(100);
    for (const auto& name : profile.without) {
      if (!definition.find(name))
        v->fail(fmt::format("\"{}\" is not a capability of this definition.", printable(name)));
    }
  }
  return profile;
}

void parse_profiles(const YamlMap& map, const ServiceDefinition& definition, OAuthDefinition& oauth) {
  const auto profiles = map.at("profiles");
  for (const auto& [key, value] : profiles.entries())
    oauth.profiles.push_back(parse_profile(key, value, definition, oauth));
  if (oauth.profiles.empty()) profiles.fail("there is no profile; name one at least.");
  oauth.default_profile = oauth.profiles.front().name;
  if (auto v = map.find("default_profile")) {
    oauth.default_profile = v->text();
    if (!oauth.find_profile(oauth.default_profile))
      v->fail(fmt::format("\"{}\" is not one of the profiles.", printable(oauth.default_profile)));
  }
}

}  // namespace

const OAuthFlow* OAuthDefinition::find_flow(const std::string& name) const {
  const auto at = std::find_if(flows.begin(), flows.end(), [&](const OAuthFlow& f) { return f.name == name; });
  return at == flows.end() ? nullptr : &*at;
}

const OAuthProfile* OAuthDefinition::find_profile(const std::string& name) const {
  const auto at = std::find_if(profiles.begin(), profiles.end(), [&](const OAuthProfile& p) { return p.name == name; });
  return at == profiles.end() ? nullptr : &*at;
}

OAuthDefinition parse_oauth(const YamlValue& value, const ServiceDefinition& definition) {
  const YamlMap map(value,
                    {"callback_port", "revoke_url", "flows", "profiles", "default_profile", "implied_scopes", "help"});
  OAuthDefinition oauth;
  if (auto v = map.find("callback_port")) oauth.callback_port = static_cast<std::uint16_t>(v->integer(1024, 65535));
  if (auto v = map.find("revoke_url")) oauth.revoke_url = url_of(*v);
  const auto flows = map.at("flows");
  for (const auto& item : flows.list(8)) {
    auto flow = parse_flow(item);
    if (oauth.find_flow(flow.name)) item.fail(fmt::format("there is a flow \"{}\" already.", flow.name));
    if (!flow.any_port && oauth.callback_port == 0)
      item.fail("a fixed redirect address needs the section's callback_port.");
    oauth.flows.push_back(std::move(flow));
  }
  if (oauth.flows.empty()) flows.fail("the list is empty.");
  parse_profiles(map, definition, oauth);
  if (auto v = map.find("implied_scopes")) {
    for (const auto& [key, scopes] : v->entries()) oauth.implied_scopes[key.line()] = scopes_of(scopes, oauth);
  }
  oauth.help = map.at("help").text(16'000);
  return oauth;
}

}  // namespace krux
