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

/// Several at a time; the others wait in their order, and behind one that opens a session until that is through.
/// Whoever adds one never waits. One thread, but forget().
class BridgeCalls {
 public:
  static constexpr std::size_t kAtOnce = 32, kMostWaiting = 256, kMostWaitingBytes = 16 << 20;

  using PassOn = std::function<void(const BridgeMessage& message, const std::shared_ptr<GatewayCall>& call)>;
  /// `pass_on` runs on threads of its own, and calls forget() once the message is not under way any more.
  explicit BridgeCalls(PassOn pass_on) : pass_on_(std::move(pass_on)) {}
  ~BridgeCalls() { finish(); }
  BridgeCalls(const BridgeCalls&) = delete;
  BridgeCalls& operator=(const BridgeCalls&) = delete;

  /// False: kMostWaiting wait already, or with it there would be more than kMostWaitingBytes.
  bool add(BridgeMessage message);
  /// Before those that wait, however many they are.
  void add_first(BridgeMessage message);

  enum class Was { kUnknown, kWaiting, kUnderWay };
  /// The answer to a request is wanted no more. One that waited is never passed on; one that was under way ends, and
  /// leaves its place.
  Was take_back(const std::string& id_json);
  void forget(const BridgeMessage& message, const std::shared_ptr<GatewayCall>& call);

  /// Ends what listens, and comes back when all others are through. Nothing is added from then on.
  void finish();

 private:
  struct Call {
    BridgeMessage message;
    std::shared_ptr<GatewayCall> call = std::make_shared<GatewayCall>();
  };
  void note(const Call& call);
  bool may_take() const { return !waiting_.empty() && !opening_; }
  void go_on();
  void run();

  const PassOn pass_on_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;  ///< over what follows
  std::condition_variable changed_;
  std::deque<Call> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool opening_ = false;  ///< a session
  std::size_t idle_ = 0;  ///< threads
  bool finishing_ = false;
  struct Noted {
    std::shared_ptr<GatewayCall> call;
    bool listens = false;
  };
  std::map<std::string, Noted> by_id_;  ///< requests that wait or are under way
};

}  // namespace krux::cli
