// What a draft may say.
#pragma once

#include <string_view>

#include "draft.hpp"

namespace gmail {

/// Throws ProxyError kInvalid (InvalidInput) for a draft that cannot be a mail. Its recipients are settled.
void check_draft(const MessageDraft& draft);

/// As types, their parameters and names of header fields are.
bool is_token(std::string_view text);

/// What Gmail keeps: it replaces ids that it finds invalid.
bool is_message_id(std::string_view id);

}  // namespace gmail
