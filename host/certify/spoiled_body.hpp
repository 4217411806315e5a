// What a broken service answers in place of what it should.
#pragma once

#include <string>
#include <string_view>

namespace krux::certify {

/// Every value of the JSON text replaced by one of another type; with `keep_top`, the scalars at the top stay as they
/// are. A text that is no JSON becomes a JSON number.
std::string with_wrong_types(std::string_view json, bool keep_top);

}  // namespace krux::certify
