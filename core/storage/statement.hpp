// A thin prepared statement for paths where every microsecond counts.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace krux {

/// Prepared once, used often. Texts and blobs that are bound, and those that are read, are borrowed: the first until
/// the statement is reset or bound anew, the second until the next step or reset. One thread at a time; must die before
/// its connection. Throws krux::Error DatabaseError.
class Statement {
 public:
  Statement(sqlite3* db, std::string_view sql);
  Statement(Statement&&) noexcept = default;
  Statement& operator=(Statement&&) noexcept = default;

  /// Binds `values` to parameters 1, 2, ...: integers, string views, nullptr.
  template <class... Values>
  Statement& bind_all(const Values&... values) {
    reset();
    int index = 0;
    (bind(++index, values), ...);
    return *this;
  }
  void bind(int index, std::int64_t value);
  void bind(int index, int value) { bind(index, std::int64_t{value}); }
  void bind(int index, std::string_view text);
  void bind(int index, const std::string& text) { bind(index, std::string_view(text)); }
  void bind(int index, const char* text) { bind(index, std::string_view(text)); }
  void bind(int index, std::nullptr_t);
  void bind_blob(int index, std::string_view bytes);

  bool step();  ///< true: a row; false: done, and reset
  void run();   ///< steps to the end
  void reset();

  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  bool is_null(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
  std::string_view text(int column) const;
  std::string_view blob(int column) const;

 private:
  [[noreturn]] void fail();
  struct Finalize {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

/// The statements of one connection by their SQL. Must die before the connection.
class StatementCache {
 public:
  explicit StatementCache(sqlite3* db) : db_(db) {}
  /// Reset and ready to be bound; valid as long as the cache.
  Statement& get(std::string_view sql);
  sqlite3* db() const { return db_; }
  void clear() { statements_.clear(); }

 private:
  sqlite3* db_;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  // Not a sorted map: statements begin alike, and to compare them would read them nearly to their ends.
  std::unordered_map<std::string, Statement, Hash, std::equal_to<>> statements_;
};

/// Resets a statement at the end of a scope, so that it holds no read lock.
class ResetAtEnd {
 public:
  explicit ResetAtEnd(Statement& statement) : statement_(statement) {}
  ~ResetAtEnd() { statement_.reset(); }
  ResetAtEnd(const ResetAtEnd&) = delete;
  ResetAtEnd& operator=(const ResetAtEnd&) = delete;

 private:
  Statement& statement_;
};

/// Runs SQL that returns nothing; throws krux::Error.
void execute(sqlite3* db, const std::string& sql);

/// BEGIN IMMEDIATE ... COMMIT; rolled back unless commit() was reached.
class Transaction {
 public:
  explicit Transaction(sqlite3* db);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  sqlite3* db_;
  bool open_ = true;
};

}  // namespace krux
