// What a client may offer its user while he writes a value.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/definition/definition.hpp"
#include "core/util/error.hpp"

namespace krux {

/// What is wanted of the replica.
struct ValuesWanted {
  std::string agent_id;
  std::shared_ptr<const ServiceDefinition> definition;
  /// A read of it that shows such values: of accounts that it may not be made of, none are shown.
  const CapabilityDefinition* shown_by = nullptr;
  ReplicaValues from;
  std::string typed;  ///< what the user has written so far
};

struct Completion {
  static constexpr std::size_t kMost = 100;
  std::vector<std::string> values;
  std::size_t total = 0;
  bool total_is_lower_bound = false;

  bool has_more() const { return total_is_lower_bound || total > values.size(); }
};

/// Those of `all` that begin with what was typed, then those that have it within, in any case.
Completion completion_of(std::vector<std::string> all, std::string_view typed);

struct HandlerContext;
/// On a worker, in the agent's turn, and within the time of a read. `done` once, on any thread.
void find_values(const std::shared_ptr<const HandlerContext>& context, ValuesWanted wanted,
                 std::function<void(std::variant<Completion, Error>)> done);

}  // namespace krux
