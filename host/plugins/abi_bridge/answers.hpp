// What an adapter's answers mean, once they are found to make sense.
#pragma once

#include <kruxos/abi.h>

#include <string>
#include <string_view>

#include "core/adapter/service_adapter.hpp"
#include "host/plugins/abi_bridge/lent_call.hpp"

namespace krux {

/// A defect of the adapter: KRUX_INTERNAL, and whatever it did may have had its effect.
CallFailure defect(std::string message);

/// Of an adapter that lacks the role.
CallFailure lacks_role(const char* role);

/// What an adapter without the function answers, asked or not.
template <class Function, class... Arguments>
CallResult<typename Function::Result> answer_without(Function, const Arguments&...) {
  return lacks_role(AdapterRole<typename Function::Table>::kName);
}
inline CallResult<std::string> answer_without(Fn<"resolve">, const ReaderPtr&, std::string_view,
                                              std::string_view params_json) {
  return std::string(params_json);
}
inline CallResult<bool> answer_without(Fn<"supports_rollback">, std::string_view) {
  return false;
}
/// A cleanup that the definition promises: for good, so that a person is told.
CallResult<bool> answer_without(Fn<"clean_up">, const AdapterWrite&);

/// One JSON object, or what is wrong with it; an empty one of a call that has asked(). `function`: which one's answer.
/// NULs, halves of surrogate pairs and what is no UTF-8 come from the service, become U+FFFD and are counted in the
/// call.
CallResult<std::string> read_object(const LentCall& call, krux_status status, BoundedSink& out,
                                    std::string_view function);

CallResult<SyncStep> read_step(const LentCall& call, krux_status status, const krux_sync_step& step);

/// `out` is not looked at unless it was found or cannot be told.
CallResult<EffectFound> read_found(const LentCall& call, krux_status status, std::int32_t found, BoundedSink* out,
                                   std::string_view function);

CallResult<Identity> read_identity(const LentCall& call, krux_status status, BoundedSink& out);

}  // namespace krux
