// What agents are told about capabilities.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/definition/definition.hpp"

namespace krux {

struct CatalogueFilter {
  std::string category, tag, name_contains;  ///< empty: any
};

/// A capability and the definition that owns it.
struct Listed {
  std::shared_ptr<const ServiceDefinition> definition;
  const CapabilityDefinition* capability;
};

/// Of the loaded services and of the host, in their definitions' order: not blocked, and of use to one connected
/// account at least (or to any that may still be connected).
std::vector<Listed> listed_capabilities(const AccountDirectory& accounts);

std::string summaries_json(const std::vector<Listed>& listed, const CatalogueFilter& filter);

/// `delay_ms`: the buffer window of a write, as it is configured.
std::string description_json(const Listed& listed, std::int64_t delay_ms);

}  // namespace krux
