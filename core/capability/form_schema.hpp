// The forms that a read asks a person to fill in: a small part of JSON Schema, and what fits it.
#pragma once

#include <string>

#include "core/util/json.hpp"

namespace krux {

/// {"type": "object", "properties": {...}, "required": [...]} with 1 to 50 properties: texts (minLength, maxLength,
/// format email, uri, date or date-time, enum with enumNames, oneOf of {const, title}), integers and numbers (minimum,
/// maximum), booleans, arrays of choices (items with enum or anyOf; minItems, maxItems); each with title, description,
/// default. Throws krux::Error InvalidInput with a sentence for anything else: nothing is asked that is not checked.
/// Returns it with its titles and descriptions as printable_lines(); what is compared with an answer must be so
/// already.
std::string checked_form(const JsonValue& schema);

/// `content` as far as the form asks for it, as one JSON object; what it has besides is left out. `schema` is good by
/// checked_form(). Throws krux::Error InvalidInput with a sentence that names what does not fit.
std::string checked_content(const JsonValue& schema, const JsonValue& content);

}  // namespace krux
