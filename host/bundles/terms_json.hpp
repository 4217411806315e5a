// Terms as they are kept with the pins and shown by --json.
#pragma once

#include "core/bundle/terms.hpp"
#include "core/util/json.hpp"

namespace krux {

/// The members of an object that has been started.
void put_terms(JsonWriter& out, const BundleTerms& terms);

/// Throws ConfigError when the object is not what put_terms() writes.
BundleTerms parse_terms(const JsonValue& object);

}  // namespace krux
