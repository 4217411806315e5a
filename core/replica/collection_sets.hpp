// Which set of tables a collection is read from, and which one syncs fill. They differ while a full pass builds another
// version of the collection beside the one that is there. docs/storage-format.md has the rules.
#pragma once

#include <memory>
#include <vector>

#include "core/replica/collection_table.hpp"

namespace krux {

struct CollectionSets {
  std::shared_ptr<const CollectionTables> filled;  ///< by syncs: as the adapter declares its collections
  std::shared_ptr<const CollectionTables> served;  ///< to reads; the same object where nothing is being built
};

/// Makes what is missing, and marks what nobody needs as old. What the adapter declares in another version than there
/// is gets a set of its own beside the one that a full pass once filled to its end; where there is none, it is read
/// from at once. Where something has to be filled from the beginning, the cursors go, and a full pass is asked for. For
/// the opening of a replica, within the caller's transaction.
CollectionSets prepare_sets(sqlite3* db, std::vector<CollectionSpec> declared);

/// A full pass has come to its end: each set that was filled is whole, and takes the place of the one before it. Within
/// the caller's transaction.
void serve_filled_sets(sqlite3* db);

/// Drops the old sets and the blobs of their records, each in a transaction of its own: it takes as long as they are
/// large. The connection must have no statement open.
void drop_old_sets(sqlite3* db);

}  // namespace krux
