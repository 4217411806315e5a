// Whether a text has a part, for the rows that a search looks at in turn.
#pragma once

#include <string_view>

namespace krux {

/// Byte by byte; an empty part is in every text.
bool contains(std::string_view text, std::string_view part);

}  // namespace krux
