// What the head of a request to /mcp says, or which connection a message came over.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "host/gateway/mcp/conversation.hpp"
#include "host/gateway/mcp/param_headers.hpp"
#include "host/http/http_types.hpp"

namespace krux::mcp {

/// The version whose requests carry all there is to know, and those that begin with a handshake, newest first.
inline constexpr std::string_view kStatelessVersion = "2026-07-28";
inline constexpr std::array<std::string_view, 3> kSessionVersions{"2025-11-25", "2025-06-18", "2025-03-26"};

struct Head {
  Head() = default;
  explicit Head(const ServerRequest& request);

  std::optional<std::string> version, method, name, session, last_event;
  ParamHeaders parameters;                     ///< inputs of a tool that are repeated there
  std::string tools;                           ///< the profile that the address asks for
  std::function<bool()> goes_on;               ///< whether who sent it may still; of HTTP alone
  bool takes_events = false;                   ///< as an answer
  bool on_this_machine = false;                ///< see is_of_this_machine()
  std::shared_ptr<Conversation> conversation;  ///< over a WebSocket; of the above then tools and machine alone
};

/// The session that what came with it belongs to: a connection's own, or the one that it names; empty: none.
std::string session_key(const Head& head);

/// Whether its client may go on with an answer over another connection: of the newest version with sessions, since
/// those before know no event without data.
bool goes_on_elsewhere(const Head& head);

/// A header's value that may be Base64 between "=?base64?" and "?="; nothing where it is not what it says.
std::optional<std::string> decoded(std::string_view value);

}  // namespace krux::mcp
