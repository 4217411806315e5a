// Bytes that are passed on piece by piece instead of being gathered.
#pragma once

#include <functional>
#include <string_view>

namespace gmail {

/// Takes the next bytes; false ends the writing. What it throws ends it too, and is thrown to who started it.
using ByteSink = std::function<bool(std::string_view)>;

}  // namespace gmail
