// Where a search takes its candidates from, in the order of the result.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/replica/record_key.hpp"
#include "core/storage/statement.hpp"

namespace krux {

/// Keys in rank order. Rank is the key where ascending keys are the wanted order, else its negative.
class KeyStream {
 public:
  virtual ~KeyStream() = default;
  /// Ends reading. A statement left open would keep its connection at what was there when it began.
  virtual void stop() {}
  /// The first rank not below `rank`, which must not go back.
  virtual std::optional<std::int64_t> at_least(std::int64_t rank) = 0;
};

/// Those that an index gives.
class IndexKeys final : public KeyStream {
 public:
  /// `statement` gives keys in rank order; its parameters ?2 and ?3 are the lowest and the highest key, the others are
  /// bound and stay so. After `patience` steps in vain it is started anew nearer to the goal, which costs as much as
  /// that many steps.
  IndexKeys(Statement& statement, KeyRange range, bool ascending, int patience);

  void stop() override { statement_.reset(); }
  std::optional<std::int64_t> at_least(std::int64_t rank) override;

 private:
  void start(std::int64_t rank);

  Statement& statement_;
  KeyRange range_;
  bool ascending_;
  int patience_;
  std::int64_t current_ = 0;
  bool started_ = false, ended_ = false;
};

/// Those that were gathered before.
class ListedKeys final : public KeyStream {
 public:
  /// `keys`: ascending, borrowed.
  ListedKeys(const std::vector<std::int64_t>& keys, KeyRange range, bool ascending);
  std::optional<std::int64_t> at_least(std::int64_t rank) override;

 private:
  using Place = std::vector<std::int64_t>::const_iterator;
  Place begin_, end_;  ///< of those that are still to come
  bool ascending_;
};

using KeyStreams = std::vector<std::unique_ptr<KeyStream>>;

/// Those that all have. The rarest first: it is asked first where the next common one may be.
class AllKeys final : public KeyStream {
 public:
  explicit AllKeys(KeyStreams streams) : streams_(std::move(streams)) {}
  void stop() override;
  std::optional<std::int64_t> at_least(std::int64_t rank) override;

 private:
  KeyStreams streams_;
  bool ended_ = false;
};

/// Those that any has.
class AnyKeys final : public KeyStream {
 public:
  explicit AnyKeys(KeyStreams streams) : streams_(std::move(streams)) {}
  void stop() override;
  std::optional<std::int64_t> at_least(std::int64_t rank) override;

 private:
  KeyStreams streams_;
};

class Candidates {
 public:
  virtual ~Candidates() = default;
  virtual bool next() = 0;  ///< false: no more
  virtual std::int64_t key() const = 0;
  virtual const Statement& row() = 0;  ///< key, text, order_key, fields
};

/// The rows of one statement: a scan, or one index with its rows.
class RowCandidates final : public Candidates {
 public:
  explicit RowCandidates(Statement& rows) : rows_(rows) {}
  ~RowCandidates() override { rows_.reset(); }
  bool next() override { return rows_.step(); }
  std::int64_t key() const override { return rows_.integer(0); }
  const Statement& row() override { return rows_; }

 private:
  Statement& rows_;
};

/// Keys that all streams have; rows are looked up when asked for.
class CommonKeys final : public Candidates {
 public:
  /// `lookup` finds a row by its key, ?1.
  CommonKeys(KeyStreams streams, bool ascending, Statement& lookup)
      : keys_(std::move(streams)), ascending_(ascending), lookup_(lookup) {}
  ~CommonKeys() override {
    keys_.stop();
    lookup_.reset();
  }

  bool next() override;
  std::int64_t key() const override { return ascending_ ? rank_ : -rank_; }
  const Statement& row() override;

 private:
  AllKeys keys_;
  bool ascending_;
  Statement& lookup_;
  std::int64_t rank_ = 0;
  bool started_ = false;
};

}  // namespace krux
