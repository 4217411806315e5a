// What a bundle asks for, as an operator agrees to it, and what a new version asks for besides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/definition/definition.hpp"

namespace krux {

struct BundleTerms {
  std::string service, prefix, version;  ///< the version is the adapter's
  std::string display_name, api_base_url;
  std::vector<std::string> hosts;  ///< api_base_url's included
  struct Capability {
    std::string name;
    CapabilityKind kind = CapabilityKind::kRead;
    Tier tier = Tier::kBlocked;
    std::optional<std::int64_t> delay_ms;  ///< of a write; nothing: the host's default
    bool undoable = false;                 ///< of a write
    bool fetches = false;                  ///< of a read
    std::uint32_t asks = 0;                ///< of a read; see CapabilityDefinition::asks
  };
  std::vector<Capability> capabilities;
  std::vector<Limit> limits;
  bool escalate_on_exceed = true;
  std::vector<std::string> scopes;
  std::string token_pattern;            ///< empty: no token is pasted
  std::string auth = kUsualAuth;        ///< where requests carry the token, in words
  std::string own_address;              ///< where an account's own address may lie, in words; empty: there is none
  std::vector<std::string> settings;    ///< of accounts, by name
  std::vector<std::string> safe_posts;  ///< that only read by the adapter's word, in words
  std::string hosts_from;               ///< the key of the configuration that lists further hosts; empty: there is none

  static constexpr const char* kUsualAuth = "Authorization: Bearer TOKEN";
};

/// `definition` has its policy applied.
BundleTerms terms_of(const ServiceDefinition& definition, const std::string& version,
                     const std::vector<std::string>& hosts);

struct TermChange {
  bool looser = false;  ///< the adapter or its agents may do more than before
  std::string words;    ///< "notes.add: the delay is 30 s instead of 5 min"
};

/// Looser ones first. Texts of the bundles stand in it as they are.
std::vector<TermChange> changes_between(const BundleTerms& before, const BundleTerms& now);

/// "5 min", "at once", "the host's default"
std::string delay_in_words(const std::optional<std::int64_t>& delay_ms);
/// "notes.add, notes.edit: 30 within 1 h, for each channel"
std::string limit_in_words(const Limit& limit);

}  // namespace krux
