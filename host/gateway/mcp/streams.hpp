// Clients that wait to hear of changes: of the lists of tools, resources and prompts, and of resources.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/gateway/mcp/subscriptions.hpp"
#include "host/gateway/mcp/task_view.hpp"
#include "host/http/http_types.hpp"

namespace krux::mcp {

/// Streams of server-sent events, and WebSockets. Any thread.
class Streams {
 public:
  /// A list that may change: its name in a filter of the stateless model, and what is sent.
  struct List {
    std::string_view wanted_by, notification;
  };
  static constexpr std::array<List, 3> kLists{{{"promptsListChanged", "notifications/prompts/list_changed"},
                                               {"resourcesListChanged", "notifications/resources/list_changed"},
                                               {"toolsListChanged", "notifications/tools/list_changed"}}};
  struct Hears {
    std::array<bool, kLists.size()> lists{};
    std::map<std::string, Subscriptions::Watch> resources{};  ///< by address
    std::map<std::string, TaskWatch> tasks{};                 ///< by id
    static Hears all_lists() { return {{true, true, true}, {}, {}}; }
  };
  /// Whose it is; `session` is empty in the stateless model, and where the client has named none.
  struct Whose {
    std::string agent_id, session;
  };
  /// As ServerResponse::stream: the client hears of each change from then on. `subscription_id`: the JSON of the id of
  /// the request that asked for it, in the stateless model; empty: in the one with sessions. `last_event`: the event
  /// that the client has heard last; what came behind it is told at once. `goes_on`: whether the client may still hear.
  /// An agent's stream beyond kPerAgent ends his oldest one.
  std::function<void(std::shared_ptr<ResponseStream>)> opening(Whose whose, std::string subscription_id, Hears hears,
                                                               std::function<bool()> goes_on,
                                                               std::optional<std::string> last_event = std::nullopt);

  /// A client hears of each change from now on, in messages of their own. `gone` runs once, when it hears no more.
  void add_socket(Whose whose, const std::shared_ptr<ResponseStream>& socket, std::function<void()> gone);

  /// The lists have changed, or may have.
  void lists_changed();
  /// The resource has; false: nobody of the session hears it.
  bool resource_changed(const std::string& session, const std::string& uri);
  /// One message for the session, over one stream of it. False: nobody hears it.
  bool tell(const std::string& session, std::string_view message);
  /// Of clients that may hear no more. WebSockets look after themselves.
  void end_those_without_leave();

  std::size_t size() const;

  static constexpr std::size_t kPerAgent = 8;

 private:
  enum class Form { kEvents, kMessages };
  struct Open {
    Whose whose;
    std::string subscription_id;
    std::array<bool, kLists.size()> lists;
    std::shared_ptr<ResponseStream> stream;
    Form form = Form::kEvents;
    std::function<bool()> goes_on = {};
    std::vector<std::shared_ptr<void>> watches = {};  ///< of what this stream alone tells of
    std::vector<std::string> changes(std::uint64_t number) const;
  };
  struct State {
    mutable std::mutex mutex;
    std::list<Open> open;       ///< the oldest first
    std::uint64_t changes = 1;  ///< the number of the last event
  };

  std::vector<std::pair<std::shared_ptr<ResponseStream>, Form>> of_session(const std::string& session) const;
  static void acknowledge(ResponseStream& stream, const std::string& subscription_id, const Hears& hears);
  static void watch(Open& one, const Hears& hears);
  static void add(const std::shared_ptr<State>& state, Open one, const std::optional<std::string>& last_event);
  static void end(State& state, const std::shared_ptr<ResponseStream>& stream);
  static void let_go_with_client(const std::shared_ptr<State>& state, ResponseStream& stream,
                                 const std::function<void()>& gone = {});

  /// Shared with streams, which may go after this.
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace krux::mcp
