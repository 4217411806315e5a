// Table `counters`: how many writes each state has, how many wait for the operator, how many are held as a copy. Who
// changes rows counts them here, in the same transaction. Internal to the ledger.
#pragma once

#include <cstdint>
#include <optional>

#include "core/storage/statement.hpp"
#include "core/write/transition.hpp"

namespace krux {

/// A row has come, or has changed from `before`.
void count_change(StatementCache& sql, const std::optional<WritePhase>& before, const WritePhase& now);
/// That many rows have changed their state in one statement.
void count_moved(StatementCache& sql, WriteState before, WriteState now, std::int64_t rows);
/// Counts anew who waits for the operator and what is held as a copy, after statements that change many rows.
void count_held_anew(StatementCache& sql);

}  // namespace krux
