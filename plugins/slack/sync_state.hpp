// What a sync keeps between its steps, in cursors: the host may be killed at any time.
#pragma once

#include <kruxos/adapter.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slack {

/// A list that Slack only gives whole, page by page (channels, users).
struct ListState {
  std::string cursor;             ///< of the next page
  std::int64_t generation = 0;    ///< of the look under way; 0: none is
  std::int64_t completed_ms = 0;  ///< when it was last seen whole; 0: never
  std::int64_t pages = 0;         ///< that the last whole look took
  std::int64_t pages_so_far = 0;
  bool wanted = true;  ///< in this pass, and not done yet

  template <class Self, class Visit>
  static void each(Self& self, Visit&& visit) {
    visit("cursor", self.cursor);
    visit("generation", self.generation);
    visit("completed_ms", self.completed_ms);
    visit("pages", self.pages);
    visit("pages_so_far", self.pages_so_far);
    visit("wanted", self.wanted);
  }
};

/// Cursor "pass". A pass brings every channel's history up to date once; lists and threads that Slack's limits keep
/// from being done within it go on in the next.
struct PassState {
  std::int64_t number = 0, started_ms = 0, next_generation = 1;
  std::int64_t revision = 0;  ///< counts commits: tells whether what is kept in memory is what is stored
  bool open = false;
  bool look_back = false;  ///< this pass looks at what is known again, not only at what is new
  // A round: a pass that looks back, and the threads that it woke.
  std::int64_t round_began_ms = 0;      ///< 0: none is under way
  std::int64_t last_round_ms = 0;       ///< when the latest one began
  std::int64_t round_cost_ms = 0;       ///< how long the latest whole one took
  std::int64_t replies_through_ms = 0;  ///< as of when no thread was waiting
  ListState channels, users;

  template <class Self, class Visit>
  static void each(Self& self, Visit&& visit) {
    visit("number", self.number);
    visit("started_ms", self.started_ms);
    visit("next_generation", self.next_generation);
    visit("revision", self.revision);
    visit("open", self.open);
    visit("look_back", self.look_back);
    visit("round_began_ms", self.round_began_ms);
    visit("last_round_ms", self.last_round_ms);
    visit("round_cost_ms", self.round_cost_ms);
    visit("replies_through_ms", self.replies_through_ms);
    visit("channels", self.channels);
    visit("users", self.users);
  }

  static PassState load(const kruxos::SyncStore& store);
  void save(kruxos::SyncStore& store) const;
};

/// Why a channel's history is looked at.
enum class Look { kNone, kFirst, kNew, kBack };
constexpr std::array<std::string_view, 4> names_of(Look) {
  return {"none", "first", "new", "back"};
}

/// Cursor "channel:<id>".
struct ChannelState {
  std::string id;
  std::string newest;           ///< the newest message that was ever seen
  std::string floor = "0";      ///< what is older was never fetched
  std::int64_t pass = 0;        ///< the last pass that is done with this channel
  std::int64_t through_ms = 0;  ///< everything that Slack had then is in the replica
  bool synced = false;          ///< its first sync is complete
  bool failed = false;          ///< and reported
  bool refused = false;         ///< it failed because Slack does not let the bot read it

  // The look under way, which takes several pages.
  Look look = Look::kNone;
  std::string oldest, page, max_ts, min_ts;
  std::int64_t got = 0, generation = 0, began_ms = 0;

  template <class Self, class Visit>
  static void each(Self& self, Visit&& visit) {
    visit("newest", self.newest);
    visit("floor", self.floor);
    visit("pass", self.pass);
    visit("through_ms", self.through_ms);
    visit("synced", self.synced);
    visit("failed", self.failed);
    visit("refused", self.refused);
    visit("look", self.look);
    if (self.look == Look::kNone) return;
    visit("oldest", self.oldest);
    visit("page", self.page);
    visit("max_ts", self.max_ts);
    visit("min_ts", self.min_ts);
    visit("got", self.got);
    visit("generation", self.generation);
    visit("began_ms", self.began_ms);
  }

  static ChannelState load(const kruxos::SyncStore& store, std::string_view id);
  void save(kruxos::SyncStore& store) const;
  void end_look();
  bool look_has_pages() const { return got > 0 || !page.empty(); }
};

/// Cursor "thread": the thread whose replies are being fetched.
struct ThreadState {
  std::string id, page;  ///< "C1/1700000001.000001"
  std::int64_t generation = 0, began_ms = 0;

  template <class Self, class Visit>
  static void each(Self& self, Visit&& visit) {
    visit("id", self.id);
    visit("page", self.page);
    visit("generation", self.generation);
    visit("began_ms", self.began_ms);
  }

  static ThreadState load(const kruxos::SyncStore& store);
  void save(kruxos::SyncStore& store) const;
};

/// Cursor "tracked": the channels that the bot was in, and that may have messages in the replica.
std::vector<std::string> load_tracked(const kruxos::SyncStore& store);
void save_tracked(kruxos::SyncStore& store, const std::vector<std::string>& ids);

}  // namespace slack
