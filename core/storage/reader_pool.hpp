// Reading connections, lent to one thread at a time.
#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "core/storage/database.hpp"
#include "core/storage/statement.hpp"

namespace krux {

class ReaderPool {
  struct Reader {
    explicit Reader(std::unique_ptr<SQLite::Database> connection) : db(std::move(connection)), sql(db->getHandle()) {}
    std::unique_ptr<SQLite::Database> db;
    StatementCache sql;
  };

 public:
  /// Both must outlive this.
  ReaderPool(const std::filesystem::path& file, const DatabaseKind& kind) : file_(file), kind_(kind) {}

  class Lease {
   public:
    Lease(ReaderPool& pool, std::unique_ptr<Reader> reader) : pool_(pool), reader_(std::move(reader)) {}
    ~Lease() { pool_.give_back(std::move(reader_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    StatementCache& sql() { return reader_->sql; }

   private:
    ReaderPool& pool_;
    std::unique_ptr<Reader> reader_;
  };

  /// Throws krux::Error DatabaseError.
  Lease lease() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto reader = std::move(idle_.back());
        idle_.pop_back();
        return {*this, std::move(reader)};
      }
    }
    return {*this, std::make_unique<Reader>(open_reader(file_, kind_))};
  }

 private:
  void give_back(std::unique_ptr<Reader> reader) {
    constexpr std::size_t kept = 8;
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kept) idle_.push_back(std::move(reader));
  }

  const std::filesystem::path& file_;
  const DatabaseKind& kind_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Reader>> idle_;
};

}  // namespace krux
