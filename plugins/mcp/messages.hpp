// What is said to an upstream server, and what it says: the same over each way.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "link.hpp"

namespace mcp {

/// Of a message with its answer: what a server sends may be no longer.
inline constexpr std::size_t kLongestMessage = 8u << 20;

/// The version that is asked for in a handshake, and the one whose requests carry all there is to know.
// Errors of JSON-RPC, by which a server says that it has not begun, and of the protocol.
inline constexpr std::int64_t kNoRequest = -32600, kNoSuchMethod = -32601, kNoParams = -32602, kNoJson = -32700;
inline constexpr std::int64_t kNoSuchVersion = -32022;

inline constexpr std::string_view kSessionVersion = "2025-11-25", kStatelessVersion = "2026-07-28";

// One message each, in one line without its end. `params_json`: one JSON object.
std::string request_message(std::int64_t id, std::string_view method, std::string_view params_json);
std::string notification_message(std::string_view method, std::string_view params_json = {});
/// Taking back the request of that id; not for requests of the handshake.
std::string cancelled_message(std::int64_t id);

/// The member `result` as one JSON object, or the error.
using Answer = std::variant<std::string, RpcError>;

/// What was agreed with a server for all further messages.
struct Agreed {
  std::string version;
  /// Its requests and notifications go through with_meta(), there is no session, and no notifications/initialized.
  bool stateless = false;
};

/// Begins the talk with a server, over any way:
///
///   Handshake handshake;
///   for (auto next = handshake.first(); next; next = handshake.take(answer_to(*next))) {}
///   if (!handshake.agreed().stateless) send(notification_message("notifications/initialized"));
///
/// Its requests are complete: with_meta() is not for them.
class Handshake {
 public:
  struct Step {
    std::string method, params_json;
  };
  std::optional<Step> first() const;  ///< never empty
  /// What is to be asked next; nothing: agreed() holds. Throws ProxyError kRefused, type "ServerNotUnderstood", with no
  /// effect, where the server speaks no version that is understood here, and RpcError where it does not begin at all.
  std::optional<Step> take(const Answer& answer);
  const Agreed& agreed() const { return agreed_; }

 private:
  Agreed agreed_;
  bool discovering_ = false;
};

/// The params of a request or notification as the agreed version wants them. What stands in their `_meta` stays. Throws
/// ProxyError kInvalid, with no effect, for anything but one JSON object.
std::string with_meta(const Agreed& agreed, std::string_view params_json);

/// One thing that a server has said. Where it is none of the three nothing is set, and it is to be passed over.
struct Incoming {
  std::optional<std::int64_t> answers;  ///< the id of a request of ours
  std::optional<Answer> answer;         ///< with `answers` alone; empty: it is no answer as the protocol has them
  std::string method;                   ///< of a request, where `id_json` is set, or of a notification
  std::string id_json;                  ///< at most 256 bytes

  bool is_request() const { return !method.empty() && !id_json.empty(); }
  bool is_notification() const { return !method.empty() && id_json.empty(); }
  bool changes_tools() const { return is_notification() && method == "notifications/tools/list_changed"; }
};

/// All that one text holds: one message, or a batch of up to 1,000. One empty Incoming for what is neither.
std::vector<Incoming> read_messages(std::string_view json);

/// What a request of the server is answered: a ping with nothing, all else with -32601, for nothing is offered to it.
std::string reply_to(const Incoming& request);

/// The result, or what was no answer as an error: throws RpcError, or ProxyError kUnavailable.
std::string result_of(std::optional<Answer> answer);

}  // namespace mcp
