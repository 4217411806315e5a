#include "core/definition/access_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/definition/base_url.hpp"
#include "core/definition/definition_loader.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

bool is_token(std::string_view text, std::size_t longest) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && text.size() <= longest && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           others.find(c) != std::string_view::npos;
  });
}

/// Headers that say how a message is to be read: a token in one of them would break the request.
bool has_another_use(std::string_view header) {
  constexpr std::array taken{"accept", "accept-encoding", "connection",        "content-encoding", "content-length",
                             "cookie", "cookie2",         "content-type",      "expect",           "host",
                             "te",     "trailer",         "transfer-encoding", "upgrade",          "user-agent"};
  return std::any_of(taken.begin(), taken.end(), [&](const char* name) { return equal_ignoring_case(header, name); }) ||
         equal_ignoring_case(header.substr(0, 6), "proxy-");
}

void parse_header(const YamlMap& map, AuthDefinition& auth) {
  if (const auto v = map.find("header")) {
    auth.name = v->line(64);
    auth.scheme.clear();
    if (!is_token(auth.name, 64))
      v->fail(fmt::format("\"{}\" is no name of a header, such as PRIVATE-TOKEN.", printable(auth.name)));
    if (has_another_use(auth.name)) v->fail(fmt::format("the header {} has another use.", auth.name));
  }
  if (const auto v = map.find("scheme")) {
    auth.scheme = v->line(64);
    if (!is_token(auth.scheme, 64))
      v->fail(
          fmt::format("\"{}\" is no word to stand before the token, such as Bearer or Bot.", printable(auth.scheme)));
  }
}

void parse_basic(const YamlValue& value, AuthDefinition& auth, const AccountTerms& accounts) {
  auth.way = AuthDefinition::Way::kBasic;
  const YamlMap map(value, {"user"});
  const auto user = map.at("user");
  auth.user = user.line(32);
  if (auth.user == "token") return auth.user.clear();
  const auto* setting = accounts.find(auth.user);
  if (!setting || !setting->required)
    user.fail(
        fmt::format("\"{}\" is no required setting of this definition's accounts; \"token\" says that the token is "
                    "\"user:password\".",
                    printable(auth.user)));
}

void parse_query(const YamlValue& value, AuthDefinition& auth) {
  auth.way = AuthDefinition::Way::kQuery;
  auth.name = value.line(64);
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-' ||
           c == '.';
  };
  if (auth.name.empty() || !std::all_of(auth.name.begin(), auth.name.end(), fits))
    value.fail(fmt::format("\"{}\" is no name of a query's parameter: letters, digits, _, - and . are accepted.",
                           printable(auth.name)));
}

AccountSetting parse_setting(const YamlValue& value) {
  const YamlMap map(value, {"name", "description", "required", "one_of"});
  AccountSetting setting;
  const auto name = map.at("name");
  setting.name = name.text();
  if (!is_plain_name(setting.name) || setting.name == "token")
    name.fail(
        fmt::format("\"{}\" is no name for a setting: small letters, digits and _, at most 32, a letter first; "
                    "not token, which is no setting.",
                    printable(setting.name)));
  setting.description = map.at("description").line(1000);
  if (const auto v = map.find("required")) setting.required = v->boolean();
  if (const auto v = map.find("one_of")) {
    setting.one_of = v->lines(100);
    if (setting.one_of.empty()) v->fail("the list is empty; leave the key out to allow any text.");
  }
  return setting;
}

void parse_base(const YamlValue& value, AccountTerms& terms) {
  const YamlMap map(value, {"description", "required", "hosts"});
  terms.base_url = AccountTerms::BaseUrl::kOptional;
  terms.base_url_description = map.at("description").line(1000);
  if (const auto v = map.find("required"); v && v->boolean()) terms.base_url = AccountTerms::BaseUrl::kRequired;
  if (const auto v = map.find("hosts")) {
    terms.base_hosts = v->lines(64);
    if (terms.base_hosts.empty()) v->fail("the list is empty; leave the key out to allow any host.");
    for (std::size_t i = 0; i < terms.base_hosts.size(); ++i) {
      if (const auto why = why_not_host(terms.base_hosts[i]); !why.empty()) v->list()[i].fail(why);
    }
  }
}

}  // namespace

const AccountSetting* AccountTerms::find(std::string_view name) const {
  const auto at = std::find_if(settings.begin(), settings.end(), [&](const auto& s) { return s.name == name; });
  return at == settings.end() ? nullptr : &*at;
}

const char* to_string(AccountTerms::BaseUrl base_url) {
  if (base_url == AccountTerms::BaseUrl::kNo) return "no";
  return base_url == AccountTerms::BaseUrl::kRequired ? "required" : "optional";
}

AccountTerms parse_accounts(const YamlValue& value) {
  const YamlMap map(value, {"base_url", "settings"});
  AccountTerms terms;
  if (const auto v = map.find("base_url")) parse_base(*v, terms);
  if (const auto v = map.find("settings")) {
    for (const auto& item : v->list(16)) {
      auto setting = parse_setting(item);
      if (terms.find(setting.name)) item.fail(fmt::format("the setting \"{}\" stands here twice.", setting.name));
      terms.settings.push_back(std::move(setting));
    }
  }
  return terms;
}

AuthDefinition parse_auth(const YamlValue& value, const AccountTerms& accounts) {
  AuthDefinition auth;
  if (value.node().kind == YamlNode::Kind::kScalar && value.text() == "none") {
    auth.way = AuthDefinition::Way::kNone;
    return auth;
  }
  const YamlMap map(value, {"header", "scheme", "basic", "query"});
  const auto basic = map.find("basic"), query = map.find("query");
  const bool by_header = map.find("header") || map.find("scheme");
  if (static_cast<int>(by_header) + static_cast<int>(basic.has_value()) + static_cast<int>(query.has_value()) != 1)
    value.fail("one way is expected: header and scheme, basic, query, or none.");
  if (by_header) parse_header(map, auth);
  if (basic) parse_basic(*basic, auth, accounts);
  if (query) parse_query(*query, auth);
  return auth;
}

std::vector<SafePost> parse_safe_posts(const YamlValue& value) {
  const YamlMap map(value, {"safe_posts", "graphql"});
  std::vector<SafePost> all;
  for (const auto& [key, graphql] : {std::pair{"graphql", true}, {"safe_posts", false}}) {
    const auto v = map.find(key);
    if (!v) continue;
    const auto paths = v->lines(32);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (paths[i].empty() || paths[i].starts_with('/') || paths[i].find_first_of("?# \\") != std::string::npos)
        v->list()[i].fail(fmt::format("\"{}\" is no path relative to api_base_url, such as graphql or search/*.",
                                      printable(paths[i])));
      all.push_back({paths[i], graphql});
    }
  }
  return all;
}

}  // namespace krux
