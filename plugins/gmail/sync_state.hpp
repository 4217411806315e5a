// What a sync keeps between its steps, in cursors: the host may be killed at any time.
#pragma once

#include <kruxos/adapter.hpp>

#include <array>
#include <cstdint>
#include <optional>
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
constexpr std::array<std::string_view, 5> names_of(Phase) {
  return {"new", "comparing", "listing", "closing", "steady"};
}

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
  int senseless = 0;                   ///< how often no answer of a whole chunk made sense

  // Of a history that was followed and is lost.
  std::int64_t lost_ms = 0;  ///< when that was last so
  std::int64_t lost_times = 0;

  std::int64_t full_passes = 0;  ///< begun so far

  template <class Self, class Visit>
  static void each(Self& self, Visit&& visit) {
    visit("phase", self.phase);
    visit("open", self.open);
    visit("history_id", self.history_id);
    visit("history_page", self.history_page);
    visit("run_began_ms", self.run_began_ms);
    visit("caught_up_ms", self.caught_up_ms);
    visit("list_page", self.list_page);
    visit("listed", self.listed);
    visit("total", self.total);
    visit("compares", self.compares);
    visit("since_ms", self.since_ms);
    visit("whole_ms", self.whole_ms);
    visit("losses", self.losses);
    visit("disturbed", self.disturbed);
    visit("relists", self.relists);
    visit("restarts", self.restarts);
    visit("senseless", self.senseless);
    visit("lost_ms", self.lost_ms);
    visit("lost_times", self.lost_times);
    visit("full_passes", self.full_passes);
  }

  static SyncState load(const kruxos::SyncStore& store);
  void save(kruxos::SyncStore& store) const;
};

/// Cursor "unread": messages that Gmail has, and that could not be read.
struct Unreadable {
  struct Entry {
    std::string id, why;
    int tries = 0;
    std::int64_t full_pass = 0;  ///< SyncState::full_passes when Gmail last had it

    template <class Self, class Visit>
    static void each(Self& self, Visit&& visit) {
      visit("id", self.id);
      visit("why", self.why);
      visit("tries", self.tries);
      visit("full_pass", self.full_pass);
    }
  };
  std::vector<Entry> entries;

  static constexpr int kMostTries = 5;       ///< one a pass; then not before the next full pass
  static constexpr std::size_t kMost = 200;  ///< beyond that the oldest ones wait for the next full pass

  static Unreadable load(const kruxos::SyncStore& store);
  void save(kruxos::SyncStore& store) const;
  /// Counts one more failure. Returns what was given up for it.
  std::optional<Entry> note(const std::string& id, const std::string& why, std::int64_t full_pass);
  bool has(std::string_view id) const;
  /// A list shows it. False where it is not there.
  bool saw(std::string_view id, std::int64_t full_pass);
  /// False where it was not there.
  bool forget(std::string_view id);
};

}  // namespace gmail
