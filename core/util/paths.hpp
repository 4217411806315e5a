// Where paths lead.
#pragma once

#include <filesystem>

namespace krux {

/// Whether `inner` is `outer` or lies below it, links followed. Neither need exist. Throws krux::Error InvalidInput
/// where a path cannot be followed.
bool lies_in(const std::filesystem::path& inner, const std::filesystem::path& outer);

}  // namespace krux
