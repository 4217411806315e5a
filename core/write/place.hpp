// Whether this run of the host is on the data directory that it was on before, or on a copy; and the counter that goes
// on with the ledger, inside and outside of it. docs/write-path.md tells the rules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/storage/place.hpp"
#include "core/util/clock.hpp"

namespace krux {

class GroupCommit;

struct PlaceOptions {
  std::filesystem::path places_dir;  ///< of the counters, outside of every data directory
  bool held = false;                 ///< the operator says that this is a copy
  std::string boot_id, machine_id;
  std::optional<std::int64_t> settle_ms;  ///< instead of each write's own
};

/// One thread at a time.
class Place {
 public:
  /// Before the ledger's present run begins. In a copy every write that has not ended is held, in the same transaction
  /// in which the new place is noted; the counter has gone on when this returns. Throws krux::ConfigError with what to
  /// do (a copy of this ledger runs, the place of the counter cannot be used), krux::Error DatabaseError.
  Place(GroupCommit& store, Clock& clock, std::filesystem::path data_dir, PlaceOptions options);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// Why it is taken for a copy, a sentence; empty: it is none.
  const std::string& copy_reason() const { return reason_; }
  /// How many writes are held by this start.
  std::int64_t held() const { return held_; }

  /// Lets the counter go on, at most once a minute: before anything is claimed. Throws krux::Error DatabaseError.
  void advance_in_time();
  /// Lets the counter go on: what is copied from now on stands behind it.
  void advance();

 private:
  struct Row;
  std::string find_difference(const Row& row, std::optional<std::int64_t> outside) const;
  void begin(const Row& row, std::optional<std::int64_t> outside);
  void settle(std::int64_t counter);

  GroupCommit& store_;
  Clock& clock_;
  const std::filesystem::path data_dir_, file_;
  const PlaceOptions options_;
  std::string reason_;
  std::int64_t held_ = 0, counter_ = 0, advanced_boot_ms_ = 0;
  PlaceMarks marks_;
  std::unique_ptr<PlaceRecord> record_;
};

}  // namespace krux
