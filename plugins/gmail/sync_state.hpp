// What a sync keeps between its steps, in cursors: the host may be killed at any time.
#pragma once

#include <kruxos/adapter.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gmail {

enum class Phase {
  kNew,        ///< nothing is known
  kComparing,  ///< which messages have which label is being asked, for a replica that has messages already
  kListing,    ///< all ids are gone through, and what is missing is fetched
  kClosing,    ///< the history since the beginning is taken over, then what was not seen is erased
  kSteady,     ///< the history is followed
};

/// Cursor "sync".
struct SyncState {
  Phase phase = Phase::kNew;
  bool open = false;              ///< a pass is under way
  std::string history_id;         ///< changes up to here are in the replica
  std::string history_page;       ///< of the run of history.list under way; empty: the first page, or none is under way
  std::int64_t run_began_ms = 0;  ///< of that run; 0: none is under way
  std::int64_t caught_up_ms = 0;  ///< when the last whole run began

  // The full pass.
  std::string list_page;
  std::int64_t listed = 0, total = 0;  ///< ids gone through, and how many Gmail said there are
  bool compares = false;               ///< the replica had messages when it began: their labels are compared
  std::int64_t since_ms = 0;           ///< older messages are left out; 0: none
  std::int64_t whole_ms = 0;           ///< when the last whole full pass ended; 0: none did
  int losses = 0;                      ///< how often the history was lost since a pass began or failed for that
  bool disturbed = false;              ///< messages were deleted while the list was read: it may have skipped some
  int relists = 0;                     ///< how often the list was read again for that
  int restarts = 0;                    ///< how often a page was no longer known in this pass

  // Of a history that was followed and is lost.
  std::int64_t lost_ms = 0;  ///< when that was last so
  std::int64_t lost_times = 0;

  static SyncState load(const kruxos::SyncStore& store);
  void save(kruxos::SyncStore& store) const;
};

/// Cursor "unread": messages that Gmail has, and that could not be read.
struct Unreadable {
  struct Entry {
    std::string id, why;
    int tries = 0;
  };
  std::vector<Entry> entries;

  static constexpr int kMostTries = 5;       ///< one a pass; then not before the next full pass
  static constexpr std::size_t kMost = 200;  ///< beyond that the oldest ones wait for the next full pass

  static Unreadable load(const kruxos::SyncStore& store);
  void save(kruxos::SyncStore& store) const;
  /// Counts one more failure.
  void note(const std::string& id, const std::string& why);
  bool has(std::string_view id) const;
  /// False where it was not there.
  bool forget(std::string_view id);
};

}  // namespace gmail
