// What a bridge passes on to the gateway: what waits, what is under way, and taking it back.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "host/cli/gateway_client.hpp"

namespace krux::cli {

/// One message of the program's.
struct BridgeMessage {
  std::string text, id_json, method, name, version;  ///< `id_json` is empty for a notification
  std::string cancels;                               ///< the id of the request that it takes back, as JSON
  bool listens = false;                              ///< its answer would never end by itself
  bool opens = false;                                ///< what follows it needs the session that it opens
};

/// Several requests at a time; the others wait in their order. What asks for no answer has a lane of its own, in which
/// it keeps its order: answers to what requests under way have asked must not wait for those. Both wait for what opens
/// a session before them. Whoever adds one never waits. One thread, but forget().
class BridgeCalls {
 public:
  /// The latter two of each lane.
  static constexpr std::size_t kAtOnce = 32, kMostWaiting = 256, kMostWaitingBytes = 16 << 20;

  using PassOn = std::function<void(const BridgeMessage& message, const std::shared_ptr<GatewayCall>& call)>;
  /// `pass_on` runs on threads of its own, and calls forget() once the message is not under way any more.
  explicit BridgeCalls(PassOn pass_on) : pass_on_(std::move(pass_on)) {}
  ~BridgeCalls() { finish(); }
  BridgeCalls(const BridgeCalls&) = delete;
  BridgeCalls& operator=(const BridgeCalls&) = delete;

  /// False: kMostWaiting wait already, or with it there would be more than kMostWaitingBytes.
  bool add(BridgeMessage message);

  /// The answer to a request is wanted no more. One that is under way ends, and leaves its place. True: it waited, and
  /// is never passed on, so that the gateway has not heard of it.
  bool take_back(const std::string& id_json);
  void forget(const BridgeMessage& message, const std::shared_ptr<GatewayCall>& call);

  /// Ends what listens, and comes back when all others are through. Nothing is added from then on.
  void finish();

 private:
  struct Call {
    BridgeMessage message;
    std::size_t behind = 0;  ///< so many openings
    std::shared_ptr<GatewayCall> call = std::make_shared<GatewayCall>();
  };
  struct Lane {
    explicit Lane(std::size_t at_once) : places(at_once) {}
    const std::size_t places;  ///< of messages under way
    std::deque<Call> waiting;
    std::size_t bytes = 0;  ///< of these
    std::size_t threads = 0, idle = 0;
    std::condition_variable changed;
  };
  void note(const Call& call);
  bool may_take(const Lane& lane) const { return !lane.waiting.empty() && lane.waiting.front().behind <= opened_; }
  void run(Lane& lane);

  const PassOn pass_on_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;  ///< over what follows
  Lane requests_{kAtOnce}, asides_{1};
  std::size_t openings_ = 0, opened_ = 0;  ///< of sessions: that were added, that are through
  bool finishing_ = false;
  struct Noted {
    std::shared_ptr<GatewayCall> call;
    bool listens = false;
  };
  std::map<std::string, Noted> by_id_;  ///< requests that wait or are under way
};

}  // namespace krux::cli
