// Searched texts that an earlier version has put, which still have their accents. They lose them between passes, some
// rows at a time, so that nothing is synced again; until then a search looks for both.
#pragma once

#include "core/replica/collection_table.hpp"
#include "core/storage/statement.hpp"

namespace krux {

/// In the view of the statements.
bool has_accents_left(StatementCache& statements, const CollectionTable& table);

/// Does some rows more, in a transaction of its own; false where none are left. Throws krux::Error DatabaseError.
bool refold_some(StatementCache& statements, const CollectionTable& table);

}  // namespace krux
