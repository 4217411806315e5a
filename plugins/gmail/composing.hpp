// What a write's parameters make: the mail itself.
#pragma once

#include <string>
#include <string_view>

#include "json.hpp"

namespace gmail {

/// A header's value in a message of Gmail's JSON, decoded; empty where there is none.
std::string header_of(const Json& message, std::string_view name);

}  // namespace gmail
