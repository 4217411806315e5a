// Writes as agents see them.
#pragma once

#include <string>

#include "core/capability/definition.hpp"
#include "core/util/json.hpp"
#include "core/write/write.hpp"

namespace krux {

/// {write_id, buffer_id, status, buffer_until, scheduled_send, cancel_deadline, content_hash}, and `duplicate_of` where
/// an existing write answered.
std::string buffered_json(const BufferedWrite& write, bool duplicate);

/// A completed immediate write: {status: "ok", write_id} and the members of its result.
std::string completed_json(const BufferedWrite& write, bool duplicate);

/// Everything an agent may know of its write; `whole`: with arguments and result.
std::string status_json(const BufferedWrite& write, bool whole);

/// What a call is about: the capability's target filled with resolved parameters. Empty when the capability names none,
/// or an input of it is not given.
std::string target_of(const CapabilityDefinition& capability, const JsonValue& params);

/// One line for people: the capability's template filled with `params`, safe to print.
std::string summary_of(const CapabilityDefinition& capability, const JsonValue& params);

}  // namespace krux
