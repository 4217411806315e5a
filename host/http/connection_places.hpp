// Who may have the connections of one listener. Nobody is refused because of strangers: when all places are taken, the
// connection that has waited longest without a valid key goes, and where none waits the one whose answer in parts is
// the oldest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace krux {

struct PlaceLimits {
  std::size_t all = 1024;
  std::size_t strangers = 1024;  ///< of these at most, so that some are left for those with a key
  std::size_t agents = 1024;     ///< and of those with a key, so that newcomers can show theirs
  std::size_t of_agent = 1024;   ///< of one of these
};

/// What became of those who came, by whether they have shown a key.
struct PlaceFigures {
  struct Of {
    std::size_t open = 0;         ///< now
    std::uint64_t sent_away = 0;  ///< while they waited, so that another one had a place
    std::uint64_t refused = 0;    ///< because nobody could be sent away for them
  };
  Of strangers, agents;
};

/// For a listener that has `all` connections and asks for keys.
PlaceLimits places_with_keys(std::size_t all);
/// For one where nobody has a key.
PlaceLimits places_of_strangers(std::size_t all);

/// Any thread. Outlives its places.
class ConnectionPlaces {
 public:
  explicit ConnectionPlaces(PlaceLimits limits) : limits_(limits) {}
  ConnectionPlaces(const ConnectionPlaces&) = delete;
  ConnectionPlaces& operator=(const ConnectionPlaces&) = delete;

  /// One connection's place, until it is destroyed. At first that of a stranger who waits. Its members belong to the
  /// connection's thread.
  class Place {
   public:
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// A valid key of `agent` came, with a request that is taken in from now on: as busy(). False where the agent has
    /// no place left, and no idle connection that could go for this one.
    bool belongs_to(const std::string& agent);
    /// A request is being answered: the connection is not asked to go.
    void busy();
    /// For a request, from now on.
    void waits();
    /// An answer in parts is being sent, for as long as somebody has something to say. The connection is asked to go
    /// where no idle one of its kind could: those whose answers began first are the first.
    void streams();
    /// Whether the one who was asked to go still has to.
    bool must_go() const;

   private:
    friend class ConnectionPlaces;
    struct Agent;
    Place(ConnectionPlaces& of, std::function<void()> ask_to_go) : of_(of), ask_to_go_(std::move(ask_to_go)) {}

    ConnectionPlaces& of_;
    const std::function<void()> ask_to_go_;
    // Under the lock of `of_`.
    std::shared_ptr<Agent> agent_;     ///< null: a stranger
    std::list<Place*>* in_ = nullptr;  ///< of those who may be asked to go, at `at_`; null: it may not
    std::list<Place*>::iterator at_;
    bool leaving_ = false;  ///< asked to go, and counted no more
  };

  /// `ask_to_go` runs on any thread and must do no more than pass it on: the connection closes unless it finds that it
  /// need not (must_go()). Null when all places are taken by connections that are being answered, none of them in
  /// parts.
  std::unique_ptr<Place> enter(std::function<void()> ask_to_go);
  /// Asks the stranger to go who has waited longest. False when there is none.
  bool make_room();

  PlaceFigures figures() const;

 private:
  /// Who may be asked to go, those who have been so for longest first.
  struct Waiting {
    std::list<Place*> idle, streams;
    bool empty() const { return idle.empty() && streams.empty(); }
  };
  bool ask_first(Waiting& waiting);
  bool make_room_for(Place::Agent& agent);
  Waiting& waiting_like(const Place& place);
  static void enlist(Place& place, std::list<Place*>& list);
  static void strike(Place& place);
  void begin(Place& place);
  void count(const Place& place, int by);
  void let_go_of_agent(Place& place);

  const PlaceLimits limits_;
  mutable std::mutex mutex_;  ///< over what follows
  Waiting strangers_;
  std::size_t stranger_count_ = 0, agent_count_ = 0;
  PlaceFigures figures_;  ///< without those that are open
  std::map<std::string, std::shared_ptr<Place::Agent>> agents_;
};

}  // namespace krux
