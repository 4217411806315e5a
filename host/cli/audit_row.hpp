// Rows of the audit log as the command shows them.
#pragma once

#include <string>

#include "core/util/json.hpp"

namespace krux::cli {

/// What a line has room for of a row's body: "accept by operator:ann", "buffered -> executing".
std::string audit_body_in_words(const JsonValue& body);

}  // namespace krux::cli
