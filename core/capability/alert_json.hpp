// Alerts as agents see them.
#pragma once

#include "core/util/json.hpp"
#include "core/write/alerts.hpp"

namespace krux {

/// The members of an object.
void put_alert(JsonWriter& out, const Alert& alert);

}  // namespace krux
