// A record as an adapter gives it.
#pragma once

#include <kruxos/abi/read.h>

#include <string>
#include <vector>

#include "core/replica/collection.hpp"

namespace krux {

struct GivenRecord {
  Record record;
  /// Why it does not cross the boundary: of the record collection, id, scope, time and generation count then. Empty: it
  /// does.
  std::string too_large;
};

/// Throws krux::Error InvalidInput for none, for what was not declared and for a table that makes no sense.
GivenRecord record_of(const krux_record* from, const std::vector<CollectionSpec>& collections);

/// What try_put() and put() of a reader answer. KRUX_CANCELLED where the receiver of the reason wants no more.
krux_status say_taken(const std::string& why, std::int32_t* taken, const krux_sink* sink);

}  // namespace krux
