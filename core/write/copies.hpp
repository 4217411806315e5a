// What is held where the data directory may be a copy of one that went on. docs/write-path.md tells the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/storage/statement.hpp"
#include "core/util/clock.hpp"
#include "core/write/write.hpp"

namespace krux {

struct CopyHold {
  std::string reason;                     ///< why this is taken for a copy, a sentence
  std::string boot_id;                    ///< of the machine
  std::optional<std::int64_t> settle_ms;  ///< instead of each write's own
};

/// Inside a transaction, before the ledger's present run begins: every write that has not ended is held until a person
/// releases or discards it, and looked for by its marker after its settle time; an alert says so. Returns how many are
/// held now.
std::int64_t hold_copies(StatementCache& sql, const CopyHold& hold, const Clock& clock);

/// Inside a transaction: what a look at a held write has shown.
void keep_evidence(StatementCache& sql, WriteRecord& write, const std::string& evidence, const std::string& result_json,
                   std::int64_t now_ms);

/// Throws ConflictError when the write is not held any more.
void must_be_held(const WriteRecord& write);

/// Throws ConflictError when a look has ended since `shown` was found.
void must_be_found_as(const WriteRecord& write, const std::string& shown);

/// Inside a transaction: closes the alert when no write is held any more.
void settle_copies(StatementCache& sql, const std::string& who, std::int64_t now_ms);

}  // namespace krux
