// An event loop and the connections that live on it. Internal to the HTTP server.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/util/clock.hpp"
#include "host/http/agent_pace.hpp"
#include "host/http/connection_places.hpp"
#include "host/http/http_server.hpp"
#include "host/http/loop_lead.hpp"

namespace krux {

class ByteStream;
class HttpConnection;
class TlsContext;

/// What the connections of one listener share. Outlives the server where an answer is still on its way.
struct ListenerShared {
  ListenerShared(Handler h, HttpLimits l, Admission a)
      : handler(std::move(h)),
        admission(std::move(a)),
        limits(l),
        places(admission ? places_with_keys(l.connections) : places_of_strangers(l.connections)),
        pace(l.pace) {}

  const Handler handler;
  const Admission admission;  ///< may be none
  const HttpLimits limits;
  std::unique_ptr<TlsContext> tls;
  ConnectionPlaces places;
  AgentPace pace;                           ///< where there is an admission
  std::atomic<std::size_t> connections{0};  ///< open, those that were asked to go or are refused among them
};

/// Kept alive by the server and by each request that is not answered yet.
class EventLoop : public std::enable_shared_from_this<EventLoop> {
 public:
  /// With a `watch` its thread is lent to requests; see LoopLead.
  explicit EventLoop(const Clock& c, std::shared_ptr<LoopWatch> watch = nullptr)
      : clock(c), lead(context, std::move(watch)), look_(context), held_look_(context) {}

  // On the loop, or once that has ended.
  void add(const std::shared_ptr<HttpConnection>& connection);
  void remove(HttpConnection* connection) { connections_.erase(connection); }
  /// Tells it so at that time since boot.
  void hold(std::weak_ptr<HttpConnection> connection, std::int64_t until_ms);
  std::shared_ptr<HttpConnection> find(HttpConnection* connection) const;
  std::vector<std::shared_ptr<HttpConnection>> connections() const;
  /// A request, or a message, that is under way, and since when since boot.
  using UnderWay = std::pair<std::int64_t, const void*>;
  /// It is handled behind this step of the loop. The thread is not lent for it while others that came lately are under
  /// way: their answers are to be sent.
  void handle(const UnderWay& which, std::function<void()> request);
  void handled(const UnderWay& which) { under_way_.erase(which); }
  bool stopping = false;
  std::array<char, 16384> buffer{};  ///< what is being received

  /// Any thread: deadlines are looked at this often, if not oftener.
  void look_every(std::int64_t ms);
  /// Any thread: `step` runs on the loop.
  template <class Step>
  void post(Step step) {
    boost::asio::post(context, std::move(step));
    lead.has_work();
  }

  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
  const Clock& clock;
  LoopLead lead;

 private:
  void look_later();
  void look_at_deadlines();
  void wait_for_held();

  // Behind the context: destroyed before it.
  boost::asio::steady_timer look_, held_look_;
  bool looks_later_ = false;
  std::int64_t look_every_ms_ = 250;
  std::unordered_map<HttpConnection*, std::shared_ptr<HttpConnection>> connections_;
  std::set<UnderWay> under_way_;                                     ///< the latest last
  std::multimap<std::int64_t, std::weak_ptr<HttpConnection>> held_;  ///< by their ends
};

}  // namespace krux
