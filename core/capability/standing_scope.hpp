// Which later writes are like one that a person approves.
#pragma once

#include <string>
#include <variant>

#include "core/capability/handler_context.hpp"

namespace krux {

/// Or why nothing can be called the like of it, a sentence: it is not known whom it reaches or what it is about, or a
/// person is asked because of what it says, which differs from write to write.
std::variant<StandingScope, std::string> standing_scope(const HandlerContext& context, const WriteRecord& write);

/// The standing approval that covers a write which a person is to be asked about; empty: none does.
std::string covering_standing(const HandlerContext& context, const NewWrite& write);

}  // namespace krux
