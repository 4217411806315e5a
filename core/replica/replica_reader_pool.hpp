// Connections for reading, lent one at a time.
#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "core/replica/collection_table.hpp"
#include "core/replica/replica_reader.hpp"
#include "core/replica/search.hpp"
#include "core/storage/statement.hpp"

namespace krux {

struct ReadConnection {
  explicit ReadConnection(const std::filesystem::path& file);

  std::unique_ptr<SQLite::Database> db;
  StatementCache statements;
};

/// A reader outlives the pool that lent it: its connection is then closed instead of coming back.
class ReplicaReaderPool : public std::enable_shared_from_this<ReplicaReaderPool> {
 public:
  ReplicaReaderPool(std::filesystem::path file, std::shared_ptr<const CollectionTables> tables, SearchBudget budget);

  std::unique_ptr<ReadConnection> take();
  void give_back(std::unique_ptr<ReadConnection> connection);
  void close();  ///< idle connections now, lent ones when they come back

  const CollectionTables& tables() const { return *tables_; }
  const SearchBudget& budget() const { return budget_; }

 private:
  const std::filesystem::path file_;
  const std::shared_ptr<const CollectionTables> tables_;
  const SearchBudget budget_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ReadConnection>> idle_;
  bool closed_ = false;
};

/// Sees the replica as it was at its first use, until refresh().
class PooledReader final : public ReplicaReader {
 public:
  explicit PooledReader(std::shared_ptr<ReplicaReaderPool> pool);
  ~PooledReader() override;

  bool get(std::string_view collection, std::string_view id, const OnRow& on_row) override;
  QueryResult query(const Query& query, const OnRow& on_row) override;
  bool blob(std::string_view collection, std::string_view id, std::string_view name,
            const std::function<bool(std::string_view)>& on_bytes) override;

  void refresh();

 private:
  void begin();

  std::shared_ptr<ReplicaReaderPool> pool_;
  std::unique_ptr<ReadConnection> connection_;
  bool begun_ = false;
};

}  // namespace krux
