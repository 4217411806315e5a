// JSON bodies that hold a secret: wiped when they go.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include "core/net/secret.hpp"

namespace krux::cli {

/// {"name": "value", ...}; members whose value is empty are left out. Throws CliError for a value that is no UTF-8 or
/// holds a NUL.
SecretBytes secret_body(std::initializer_list<std::pair<std::string_view, std::string_view>> members);

}  // namespace krux::cli
