// Whether a GraphQL request only reads, by the document itself.
#pragma once

#include <string>
#include <string_view>

namespace krux {

/// Empty where `body` is one JSON request (or an array of them) whose document has queries and fragments alone; else
/// why not, without a full stop. A request that names its document otherwise (by a hash) is not known to read.
std::string why_not_graphql_query(std::string_view body);

}  // namespace krux
