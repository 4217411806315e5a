#include "core/definition/account_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/definition/base_url.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

bool fits(const std::string& host, const std::string& pattern) {
  if (!pattern.starts_with("*.")) return host == pattern;
  return host.size() >= pattern.size() && host.ends_with(std::string_view(pattern).substr(1));
}

std::string joined(const std::vector<std::string>& all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : ", ") + one;
  return text;
}

std::string why_not_base(const ServiceDefinition& definition, const std::string& base_url) {
  const auto& terms = definition.accounts;
  if (terms.base_url == AccountTerms::BaseUrl::kNo)
    return base_url.empty()
               ? ""
               : fmt::format("Accounts of {} have no address of their own; leave it out.", definition.display_name);
  if (base_url.empty())
    return terms.base_url == AccountTerms::BaseUrl::kOptional
               ? ""
               : fmt::format("An account of {} needs its own address, --base-url: {}", definition.display_name,
                             terms.base_url_description);
  if (const auto why = why_not_base_url(base_url); !why.empty()) return "The address " + why;
  if (terms.base_hosts.empty()) return {};
  const auto place = place_of(base_url);
  const bool allowed = std::any_of(terms.base_hosts.begin(), terms.base_hosts.end(),
                                   [&](const auto& pattern) { return fits(place.host, pattern); });
  if (!allowed)
    return fmt::format("An account's address of {} lies at {}, not at {}.", definition.display_name,
                       joined(terms.base_hosts), printable(place.host.substr(0, 100)));
  if (!place.usual_port && !is_loopback(place.host))
    return fmt::format("An account's address of {} names no port.", definition.display_name);
  return {};
}

std::string why_not_setting(const AccountSetting& setting, const std::string& value) {
  if (value.empty()) return fmt::format("The setting {} is empty: {}", setting.name, setting.description);
  if (value.size() > kLongestSetting || !is_valid_utf8(value) ||
      std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }))
    return fmt::format("The setting {} is one line of text of at most {} bytes.", setting.name, kLongestSetting);
  if (!setting.one_of.empty() && std::find(setting.one_of.begin(), setting.one_of.end(), value) == setting.one_of.end())
    return fmt::format("The setting {} is one of {}, not \"{}\".", setting.name, joined(setting.one_of),
                       printable(value.substr(0, 60)));
  return {};
}

}  // namespace

std::string kept_base_url(std::string base_url) {
  if (!base_url.empty() && !base_url.ends_with('/')) base_url += '/';
  return base_url;
}

std::string why_not_own(const ServiceDefinition& definition, const AccountOwn& own) {
  if (auto why = why_not_base(definition, own.base_url); !why.empty()) return why;
  std::vector<std::string> names;
  for (const auto& setting : definition.accounts.settings) names.push_back(setting.name);
  for (const auto& [name, value] : own.settings) {
    const auto* setting = definition.accounts.find(name);
    if (!setting)
      return fmt::format("{} has no setting \"{}\"{}{}", definition.display_name, printable(name.substr(0, 60)),
                         did_you_mean(name, names),
                         names.empty() ? "; its accounts have none." : fmt::format("; there are: {}.", joined(names)));
    if (auto why = why_not_setting(*setting, value); !why.empty()) return why;
    if (setting->name == definition.auth.user && value.find(':') != std::string::npos)
      return fmt::format("The setting {} holds the user's name, which has no colon.", setting->name);
  }
  for (const auto& setting : definition.accounts.settings) {
    if (setting.required && !own.settings.contains(setting.name))
      return fmt::format("An account of {0} needs the setting {1}, --set {1}=...: {2}", definition.display_name,
                         setting.name, setting.description);
  }
  return {};
}

}  // namespace krux
