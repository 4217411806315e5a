// Whether a text is JSON, told quickly for nearly all that is.
#pragma once

#include <string_view>

namespace krux {

struct JsonLimits;

/// True: `text` is one JSON object within `limits`, as is_json_object() has it. False says nothing: what is rare in
/// valid JSON (deep nesting, wide objects, long numbers, escapes in keys, escaped surrogates) is left to that one.
bool is_plain_json_object(std::string_view text, const JsonLimits& limits);

}  // namespace krux
