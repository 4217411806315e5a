// The texts of a JSON document, one after the other, without building it.
#pragma once

#include <functional>
#include <string_view>

namespace krux {

/// `json` is known to be valid. `key`: the name of the member that the text, or the list that it is in, is the value
/// of; empty: of none. Both last for the call; keys themselves are not told. Escapes are read; of halves of surrogate
/// pairs U+FFFD stands there.
void each_text(std::string_view json, const std::function<void(std::string_view key, std::string_view text)>& told);

}  // namespace krux
