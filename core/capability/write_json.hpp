// Writes as agents see them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/definition/definition.hpp"
#include "core/definition/forms.hpp"
#include "core/util/json.hpp"
#include "core/write/write.hpp"

namespace krux {

/// What has several names is told under all of them, which programs may have been written to, or under one, which is
/// enough for a model. What there is not (yet), a time or an error, is left out either way.
enum class WriteNames { kAll, kOne };

/// {write_id, buffer_id, status, buffer_until, scheduled_send, cancel_deadline, content_hash}, or of these write_id,
/// status and cancel_deadline; and `duplicate_of` where an existing write answered, which a `note` explains to a model;
/// `recipients` in these three where there are any (recipients_of()).
std::string buffered_json(const WriteRecord& write, bool duplicate, const std::string& recipients_json = {},
                          WriteNames names = WriteNames::kAll);

/// A completed immediate write: {status, write_id, undo_until} and the members of its result, but for those that are
/// the host's. Its status is "ok" to programs, which may have been written to that, and its state to a model.
std::string completed_json(const WriteRecord& write, bool duplicate, const std::string& recipients_json = {},
                           WriteNames names = WriteNames::kAll);

/// Everything an agent may know of its write; `whole`: with arguments and result.
std::string status_json(const WriteRecord& write, bool whole, const std::string& recipients_json = {},
                        WriteNames names = WriteNames::kAll);

/// Whom the write reaches, whole: {"to": "..."}, the parameters that the definition names as its recipients. Empty
/// where it names none.
std::string recipients_of(const ServiceDefinition* definition, const WriteRecord& write);

/// What names in a summary's template stand for instead of parameters.
using SummaryNames = std::map<std::string, std::string, std::less<>>;

/// One line for people: the capability's template filled with `names` and else with `params`, safe to print.
std::string summary_of(const CapabilityDefinition& capability, const JsonValue& params, const SummaryNames& names = {});

}  // namespace krux
