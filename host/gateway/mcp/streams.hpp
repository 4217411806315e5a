// Clients that wait to hear that the tools have changed.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "host/http/http_types.hpp"

namespace krux::mcp {

/// Streams of server-sent events, and WebSockets. Any thread.
class Streams {
 public:
  enum class Hears { kTools, kNothing };
  /// As ServerResponse::stream: the client hears of each change from then on. `subscription_id`: the JSON of the id of
  /// the request that asked for it, in the stateless model; empty: in the one with sessions. `last_event`: the event
  /// that the client has heard last; what came behind it is told at once. `goes_on`: whether the client may still hear.
  /// An agent's stream beyond kPerAgent ends his oldest one.
  std::function<void(std::shared_ptr<ResponseStream>)> opening(const std::string& agent_id, std::string subscription_id,
                                                               Hears hears, std::function<bool()> goes_on,
                                                               std::optional<std::string> last_event = std::nullopt);

  /// A client hears of each change from now on, in messages of their own.
  void add_socket(const std::string& agent_id, const std::shared_ptr<ResponseStream>& socket);

  /// The tools have changed, or may have.
  void tools_changed();
  /// Of clients that may hear no more. WebSockets look after themselves.
  void end_those_without_leave();

  std::size_t size() const;

  static constexpr std::size_t kPerAgent = 8;

 private:
  enum class Form { kEvents, kMessages };
  struct Open {
    std::string agent_id, subscription_id;
    Hears hears;
    std::shared_ptr<ResponseStream> stream;
    Form form = Form::kEvents;
    std::function<bool()> goes_on = {};
  };
  struct State {
    mutable std::mutex mutex;
    std::list<Open> open;       ///< the oldest first
    std::uint64_t changes = 1;  ///< the number of the last event
  };

  static void add(const std::shared_ptr<State>& state, Open one, const std::optional<std::string>& last_event);
  static void end(State& state, const std::shared_ptr<ResponseStream>& stream);
  static void let_go_with_client(const std::shared_ptr<State>& state, ResponseStream& stream);

  /// Shared with streams, which may go after this.
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace krux::mcp
