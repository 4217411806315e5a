// What the definitions and policies that are in force now say of a write that waits.
#pragma once

#include "core/capability/handler_context.hpp"

namespace krux {

/// Of a write of an account that is served: whether its capability is blocked or gone, whether a person is asked first,
/// and its limits. Without waiting.
PresentTerms present_terms(const HandlerContext& context, const WriteRecord& write);

}  // namespace krux
