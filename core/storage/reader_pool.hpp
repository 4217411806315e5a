// Reading connections of one database, lent to one thread at a time.
#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/storage/database.hpp"
#include "core/storage/statement.hpp"

namespace krux {

struct ReadConnection {
  explicit ReadConnection(std::unique_ptr<SQLite::Database> connection)
      : db(std::move(connection)), sql(db->getHandle()) {}

  std::unique_ptr<SQLite::Database> db;
  StatementCache sql;
};

/// Any thread.
class ReaderPool {
 public:
  /// What is done to each connection once it is open.
  using Prepare = void (*)(sqlite3*);

  /// `kind` must outlive this.
  ReaderPool(std::filesystem::path file, const DatabaseKind& kind, Prepare prepare = nullptr)
      : file_(std::move(file)), kind_(kind), prepare_(prepare) {}

  /// Null after close(). Throws krux::Error DatabaseError.
  std::unique_ptr<ReadConnection> take();
  /// One that is in the middle of something is not given back.
  void give_back(std::unique_ptr<ReadConnection> connection);
  void close();  ///< idle connections now, lent ones when they come back

  /// Gives back what it took at its end.
  class Lease {
   public:
    explicit Lease(ReaderPool& pool) : pool_(pool), connection_(pool.take()) {}
    ~Lease() { pool_.give_back(std::move(connection_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    StatementCache& sql() { return connection_->sql; }

   private:
    ReaderPool& pool_;
    std::unique_ptr<ReadConnection> connection_;
  };
  /// Of a pool that nobody closes.
  Lease lease() { return Lease(*this); }

 private:
  const std::filesystem::path file_;
  const DatabaseKind& kind_;
  const Prepare prepare_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ReadConnection>> idle_;
  bool closed_ = false;
};

}  // namespace krux
