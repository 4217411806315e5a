// Reads that stand under addresses, as the resources of the Model Context Protocol.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/capability/capability_handler.hpp"
#include "host/gateway/json_rpc.hpp"
#include "host/gateway/mcp/tools.hpp"

namespace krux::mcp {

/// The `resources` of a resources/list, and the `resourceTemplates` of a resources/templates/list: one JSON array.
std::string resources_json(const std::vector<Offered>& offered);
std::string resource_templates_json(const std::vector<Offered>& offered);

/// What a resource is read with.
struct ResourceRead {
  std::string uri, capability, arguments_json;
  bool several_accounts = false;  ///< of its service are connected
  std::string service{};
  std::optional<RecordAddress> changes_with{};
};
/// Nothing where there is none under `uri`. One without inputs goes before one with.
std::optional<ResourceRead> resource_at(const std::vector<Offered>& offered, std::string_view uri);

/// One that has inputs, by its template, and the capability that it is read by.
std::optional<std::pair<const ResourceDefinition*, Offered>> resource_template(const std::vector<Offered>& offered,
                                                                               std::string_view uri);

RpcError no_such_resource(std::string_view uri, bool stateless);
/// How a resources/read is answered.
RpcOutcome resource_result(const InvocationResult& result, const ResourceRead& read, const ResultForm& form);

}  // namespace krux::mcp
