// An agent's arguments against a capability's definition.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/definition/definition.hpp"
#include "core/util/json.hpp"

namespace krux {

struct CheckedArguments {
  JsonDocument params;      ///< one object: the capability's inputs under their own names, defaults filled in
  std::string params_json;  ///< `params` in canonical form (RFC 8785)
  // What the host takes for itself, of every capability. They are not among the parameters.
  std::string account;
  std::string idempotency_key;   ///< writes
  bool allow_duplicate = false;  ///< writes
  std::int64_t send_at_ms = 0;   ///< writes: not before; 0: not given
};

/// `arguments_json` is one JSON object, or empty for none. An input that is null counts as not given, unless it
/// is nullable. Throws
/// krux::Error InvalidInput with a sentence that names the parameter, what it got and what it takes.
CheckedArguments check_arguments(const CapabilityDefinition& capability, std::string_view arguments_json);

/// What `send_at` holds: a time of day with its zone, later than 1970. Throws krux::Error InvalidInput with a sentence
/// that begins with `where`.
std::int64_t parse_send_at(const std::string& where, const JsonValue& value);

/// Empty when `value` fits the input: type, bounds, lengths (Unicode code points), allowed values, and each
/// entry of an Array. Otherwise what is
/// expected and what it is instead, without a full stop.
std::string why_not_value(const InputDefinition& input, const JsonValue& value);

}  // namespace krux
