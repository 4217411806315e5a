// HTML that the host and the emulators write.
#pragma once

#include <string>
#include <string_view>

namespace krux {

/// Fit to stand between tags and in a quoted attribute. Valid UTF-8 stays so.
std::string escape_html(std::string_view text);

}  // namespace krux
