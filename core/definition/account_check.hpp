// What an operator says of an account, against what the definition lets accounts have of their own.
#pragma once

#include <map>
#include <string>

#include "core/definition/definition.hpp"

namespace krux {

/// An account's own base address (empty: the service's) and settings. Not secret.
struct AccountOwn {
  std::string base_url;
  std::map<std::string, std::string> settings;

  bool empty() const { return base_url.empty() && settings.empty(); }
  friend bool operator==(const AccountOwn&, const AccountOwn&) = default;
};

inline constexpr std::size_t kLongestSetting = 1000;

/// Empty where it fits, else a sentence that says what to give.
std::string why_not_own(const ServiceDefinition& definition, const AccountOwn& own);

/// A base address as it is kept: one that ends without "/" gets one.
std::string kept_base_url(std::string base_url);

}  // namespace krux
