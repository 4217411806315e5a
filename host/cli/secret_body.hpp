// JSON bodies that hold a secret: wiped when they go.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/net/secret.hpp"

namespace krux::cli {

/// {"name": "value", ...}; members whose value is empty are left out. Throws CliError for a value that is no UTF-8 or
/// holds a NUL. `settings`, unless empty, is an object of that name.
SecretBytes secret_body(std::initializer_list<std::pair<std::string_view, std::string_view>> members,
                        const std::map<std::string, std::string>& settings = {});

}  // namespace krux::cli
