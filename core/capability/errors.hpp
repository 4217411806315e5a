// How failures of adapters and of the ledger become the errors that agents see.
#pragma once

#include <string>

#include "core/adapter/call.hpp"
#include "core/util/error.hpp"
#include "core/write/write.hpp"

namespace krux {

/// `service` names who failed.
Error to_error(const CallFailure& failure, const std::string& service);

/// What became of a write that did not complete: failed, dead_letter, unknown. With its write_id as context.
Error to_error(const WriteRecord& write, std::int64_t now_ms, const std::string& recipients_json = {});

}  // namespace krux
