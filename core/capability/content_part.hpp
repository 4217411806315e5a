// What a model can be handed beside the values of an answer.
#pragma once

#include "core/definition/definition.hpp"
#include "core/util/json.hpp"

namespace krux {

/// Whether `value` is what its definition says of an output of this kind: see OutputDefinition::content. What is not is
/// a value as any other, and counts as text.
bool is_content_part(const JsonValue& value, ContentKind kind);
/// One of those, that holds bytes and no text.
bool is_bytes_part(const JsonValue& value, ContentKind kind);

}  // namespace krux
