// The migrations that are compiled in, generated from migrations/<set>/*.sql.
#pragma once

#include "core/storage/database.hpp"

namespace krux {

std::span<const Migration> ledger_migrations();
std::span<const Migration> replica_migrations();
std::span<const Migration> audit_migrations();

}  // namespace krux
