// What an adapter's answers mean, once they are found to make sense.
#pragma once

#include <kruxos/abi.h>

#include <string>

#include "core/adapter/service_adapter.hpp"
#include "host/plugins/abi_bridge/lent_call.hpp"

namespace krux {

/// A defect of the adapter: KRUX_INTERNAL, and whatever it did may have had its effect.
CallFailure defect(std::string message);

/// Of a cleanup that the definition promises: for good, so that a person is told.
CallFailure lacks_cleanup();

/// One JSON object, or what is wrong with it. `what` is "result", "rollback point". NULs, halves of surrogate pairs and
/// what is no UTF-8 come from the service, become U+FFFD and are counted in the call.
CallResult<std::string> read_object(const LentCall& call, krux_status status, BoundedSink& out, std::string_view what);

CallResult<SyncStep> read_step(const LentCall& call, krux_status status, const krux_sync_step& step);

/// `out` is not looked at unless it was found.
CallResult<EffectFound> read_found(const LentCall& call, krux_status status, std::int32_t found, BoundedSink* out);

CallResult<Identity> read_identity(const LentCall& call, krux_status status, BoundedSink& out);

}  // namespace krux
