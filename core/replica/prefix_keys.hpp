// The rows that have a short term: a prefix of the search index's tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/replica/record_key.hpp"
#include "core/storage/statement.hpp"

namespace krux {

using Prefixes = std::vector<std::string>;

/// Keys within `range` of the rows that have a token with one of the prefixes, ascending, each once. Nothing once
/// `is_late` says so, which is asked now and then. Throws krux::Error DatabaseError.
std::optional<std::vector<std::int64_t>> keys_with(StatementCache& statements, const std::string& search_table,
                                                   const Prefixes& prefixes, KeyRange range,
                                                   const std::function<bool()>& is_late);

}  // namespace krux
