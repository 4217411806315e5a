// What agents have used of their limits, for the operator.
#pragma once

#include "core/capability/handler_context.hpp"
#include "core/util/json_out.hpp"

namespace krux {

/// `limits`: those of definitions, of services' policies and of rules that some write counts for, by agent, and by
/// value where each is counted apart. One of a rule says which; its `service` is empty where it counts several's
/// writes.
void put_limits_in_use(JsonWriter& out, const HandlerContext& context);

}  // namespace krux
