// What agents are told about capabilities.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/capability/write_json.hpp"
#include "core/definition/definition.hpp"

namespace krux {

struct HandlerContext;

struct CatalogueFilter {
  std::string category, tag, name_contains;  ///< empty: any
};

/// A capability and the definition that owns it.
struct Listed {
  std::shared_ptr<const ServiceDefinition> definition;
  const CapabilityDefinition* capability = nullptr;
  Tier ruled = Tier::kAutonomous;  ///< what rules ask of each call of the agent that it is listed for

  Tier tier() const { return std::max(capability->tier, ruled); }
};

/// The host's own: no service's.
bool is_hosts_own(const Listed& listed);
/// Whether the operator's rules may be about it.
bool is_under_rules(const Listed& listed);
/// Whether a call of it sets or deletes what agents note.
bool sets_state(const Listed& listed);
/// Of the host's own: those that there are.
std::vector<std::shared_ptr<const ServiceDefinition>> own_definitions(const HandlerContext& context);
/// proxy.edit_write, proxy.rollback: what becomes of a write is decided.
bool decides_on_a_write(const CapabilityDefinition& capability);
/// Its service's prefix; of the host's own the part of its name before the dot.
std::string category_of(const Listed& listed);

/// With what is configured of it.
struct Offered {
  Listed listed;
  std::int64_t delay_ms = 0;      ///< the buffer window of a write
  bool several_accounts = false;  ///< of its service are connected
};

/// Of the loaded services and of the host, in their definitions' order: not blocked, by rules neither, and of use to
/// one connected account at least. `agent`: its name.
std::vector<Listed> listed_capabilities(const HandlerContext& context, std::string_view agent);

/// Those that agents may give, with those that the host adds. What is the same of each write models are told once, in
/// the host's instructions.
std::vector<InputDefinition> all_inputs(const Offered& offered, WriteNames names);
/// What its result has, without what the host adds to reads. Of a write: what its acceptance answers, and what its
/// execution adds.
std::vector<OutputDefinition> all_outputs(const Offered& offered, WriteNames names);

std::string summaries_json(const std::vector<Listed>& listed, const CatalogueFilter& filter);

std::string description_json(const Offered& offered);

}  // namespace krux
