// A request and its answer as the host's handlers see them; no type of the HTTP library in sight.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/util/error_type.hpp"

namespace krux {

/// Who is at the other end.
struct Peer {
  std::string address;  ///< "127.0.0.1", "::1"; empty on a Unix socket
  bool local = false;   ///< a Unix socket; then uid and pid are the kernel's word
  uid_t uid = static_cast<uid_t>(-1);
  pid_t pid = 0;
};

/// What a body that arrives takes up of somebody's limits. Given back once, by the end of the last holder or before.
class BodyRoom {
 public:
  /// `give_back` must not throw.
  explicit BodyRoom(std::function<void()> give_back) : give_back_(std::move(give_back)) {}
  ~BodyRoom() { give_back(); }
  BodyRoom(const BodyRoom&) = delete;
  BodyRoom& operator=(const BodyRoom&) = delete;

  /// Any thread.
  void give_back() {
    if (!given_back_.exchange(true)) give_back_();
  }

 private:
  const std::function<void()> give_back_;
  std::atomic<bool> given_back_{false};
};

/// A body that was written to a file instead of being held in memory. The file goes with it, unless somebody has taken
/// it over by then.
struct BodyFile {
  explicit BodyFile(std::filesystem::path f, std::shared_ptr<BodyRoom> r = nullptr)
      : file(std::move(f)), room(std::move(r)) {}
  ~BodyFile();
  BodyFile(const BodyFile&) = delete;
  BodyFile& operator=(const BodyFile&) = delete;
  const std::filesystem::path file;
  const std::shared_ptr<BodyRoom> room;  ///< may be null
};

class MemoryShare;

struct ServerRequest {
  std::string method;  ///< in capitals; a HEAD arrives as GET, the server leaves the answer's body out
  std::string path;    ///< begins with '/', as it was sent (percent-encoded)
  std::string query;   ///< behind the '?', as it was sent
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case
  std::string body;
  std::shared_ptr<BodyFile> body_file;  ///< instead of `body`, where the Admission said so
  std::shared_ptr<MemoryShare> memory;  ///< what it and its answer take up, from the Admission
  Peer peer;
  bool head_alone = false;  ///< it was a HEAD

  /// The first header of that name, which is given in lower case.
  std::optional<std::string_view> header(std::string_view name) const;
  /// The cookie of that name; nothing where there is none, or several.
  std::optional<std::string_view> cookie(std::string_view name) const;
};

/// The body of an answer that comes in parts, for as long as somebody has something to say. Any thread, also after its
/// connection and its server. Let go of without end(), what was sent goes out and the connection is closed without the
/// body's end, so that the client sees that it was cut.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;
  /// Without waiting. False, and the bytes go nowhere: nobody reads them any more. The client has gone, the host stops,
  /// the body has ended, or HttpLimits::unsent_bytes are not enough: then the connection is reset.
  virtual bool send(std::string_view bytes) = 0;
  void end() { end_with({}); }
  /// As send() and end(), for what was asked for: unsent_bytes are no limit to it. Its sender holds the memory for it.
  virtual void end_with(std::string_view last) = 0;
  /// `gone` runs once, when nobody reads any more before the end; within this call where that is so already. On any
  /// thread, an event loop's among them: it must not block, and must not throw. A later one takes its place.
  virtual void when_gone(std::function<void()> gone) = 0;
};

/// A message over a WebSocket, one way or the other.
struct SocketMessage {
  std::string text;  ///< UTF-8
  /// What it takes up, and its answer; of one that goes out held until it is sent, or cannot be.
  std::shared_ptr<MemoryShare> memory;
  bool refused = false;  ///< of an answer: nothing was looked at
};

/// Answers one message. Any thread, once; without a text there is nothing to say.
using SocketReply = std::function<void(SocketMessage)>;

/// Who uses a WebSocket in the host. Runs on its event loop: it must not block.
class SocketUser {
 public:
  virtual ~SocketUser() = default;
  /// `out` is for what nobody has asked for: each send() is a message of its own, and end() closes the WebSocket.
  virtual void opened(std::shared_ptr<ResponseStream> out) = 0;
  /// Whether its client may still use it. Asked before each message, and now and again.
  virtual bool goes_on() = 0;
  /// For so many bytes more of a message that is coming in; `memory` is null before the first of them. False: there is
  /// no room, the message is not kept, and without_room() answers it.
  virtual bool make_room(std::shared_ptr<MemoryShare>& memory, std::size_t bytes) = 0;
  virtual SocketMessage without_room() = 0;
  /// As a Handler. Several messages may be under way, and are answered in any order.
  virtual void take(SocketMessage message, const SocketReply& reply) = 0;
};

/// A request that is answered by a WebSocket: see accept_web_socket().
struct AcceptedSocket {
  std::string key, protocol;  ///< Sec-WebSocket-Key, and the subprotocol that was chosen, perhaps none
  std::shared_ptr<SocketUser> user;
};

struct ServerResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  ///< further ones
  std::shared_ptr<MemoryShare> memory;                       ///< held until the answer is sent, or cannot be
  /// Instead of `body`: is given the stream once the head is on its way. Runs on an event loop, as a Handler. Never
  /// called where no body is to be sent: the client has gone by then, or has asked by HEAD.
  std::function<void(std::shared_ptr<ResponseStream>)> stream;
  std::optional<AcceptedSocket> socket = {};  ///< instead of everything else: the connection becomes a WebSocket
};

/// Answers a request. Any thread, once; later calls do nothing. Let go of without a call, the answer is a 500.
using Respond = std::function<void(ServerResponse)>;

/// Runs on an event loop, on several at once where the server has several: it must not block.
using Handler = std::function<void(ServerRequest, Respond)>;

/// Where a large body goes.
struct BodyToFile {
  std::filesystem::path file;    ///< made anew, 0600
  std::uint64_t most_bytes = 0;  ///< above it the request is refused with 413
  std::int64_t timeout_ms = 0;   ///< for the whole body
  std::int64_t least_rate = 0;   ///< bytes a second: what has arrived earns the rest more time; 0: it does not
  std::shared_ptr<BodyRoom> room = nullptr;  ///< held while the file is
};

/// A request that may come in.
struct Admitted {
  std::string agent_id = {};  ///< whose valid key it showed; empty: nobody's
  std::shared_ptr<MemoryShare> memory = nullptr;
  std::optional<BodyToFile> to_file = {};  ///< nothing: its body is held in memory
};

/// A request that may not.
struct Refused {
  ServerResponse response;
  std::string agent_id = {};  ///< as Admitted's
};

/// Looks at requests before their bodies are read: refuses them at once, or lets them come, and says whose they are.
/// Runs on an event loop: it must not block.
using Admission = std::function<std::variant<Admitted, Refused>(const ServerRequest& head)>;

/// {"error": {"type": type, "message": message}}
ServerResponse error_response(int status, const ErrorType& type, std::string_view message);
/// With the status that the table has for it.
ServerResponse error_response(const ErrorType& type, std::string_view message);

/// "%41b" -> "Ab"; nothing where the escapes are broken, or hide a NUL or bytes that are no UTF-8.
std::optional<std::string> url_decode(std::string_view text);
/// Everything but unreserved characters escaped.
std::string url_encode(std::string_view text);

/// The decoded value of `name` in a query string; nothing where it is missing or broken.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace krux
