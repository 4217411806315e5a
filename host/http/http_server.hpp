// The one HTTP/1.1 server of the host: agents' gateway, health, operator's socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "core/util/clock.hpp"
#include "host/http/agent_pace.hpp"
#include "host/http/connection_places.hpp"
#include "host/http/http_types.hpp"

namespace krux {

/// Past a limit the client gets a clear answer (408, 413, 431, 503) and only its own connection is closed. Once all
/// connections are taken, the one that has waited longest without a valid key makes room for a new one.
struct HttpLimits {
  std::size_t header_bytes = 16 * 1024;  ///< and as much again in extensions and trailers of a chunked body
  std::size_t body_bytes = 1 << 20;
  std::size_t unsent_bytes = 1 << 20;  ///< of an answer in parts, of what nobody asked for over a WebSocket: its
                                       ///< connection is reset beyond them
  std::size_t connections = 1024;
  std::int64_t header_ms = 5'000;  ///< from the connection or the request's first byte to the end of its header
  std::int64_t body_ms = 30'000;   ///< from there to the end of its body
  std::int64_t idle_ms = 10'000;   ///< between two requests
  std::int64_t write_ms = 60'000;  ///< for the whole answer; of one in parts for each 64 KiB that wait
  // Instead, once the connection has shown a valid key:
  std::int64_t keyed_header_ms = 10'000;
  std::int64_t keyed_idle_ms = 75'000;
  // Of a WebSocket, whose messages have the limits of bodies:
  std::int64_t ping_ms = 30'000;  ///< after so long without a byte from the client it is asked for one
  std::int64_t pong_ms = 20'000;  ///< and where none comes the connection ends
  /// Kept for this listener's connections, for when the process has no others left.
  std::size_t spare_descriptors = 0;
  PaceLimits pace;  ///< where an Admission says whose requests they are
};

struct TlsFiles {
  std::filesystem::path certificate;  ///< PEM, the chain
  std::filesystem::path key;          ///< PEM
};

/// Requests of one connection are answered one after the other. All members but the handlers' answers belong to the
/// thread that made it.
class HttpServer {
 public:
  enum class Begin { kAtOnce, kLater };
  /// kTakeTime: while a handler has a thread, others look after the sockets, and it may run as long as it likes; where
  /// much is under way it is called on a thread that is not lent to it, and must be brief as well.
  enum class Handlers { kBrief, kTakeTime };
  /// Each thread is an event loop of its own; a connection stays with one. kLater: connections wait until serve().
  /// Times are taken from `clock`, which outlives the answers; without one, from the system's.
  explicit HttpServer(int threads = 1, Begin begin = Begin::kAtOnce, const Clock* clock = nullptr,
                      Handlers handlers = Handlers::kBrief);
  ~HttpServer();  ///< stop(0)
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  struct Bound {
    std::uint16_t port = 0;
    bool loopback = false;
    std::function<PlaceFigures()> figures;  ///< of its connections; any thread, also after the server
  };
  /// Port 0 takes a free one. Throws ConfigError.
  Bound listen_tcp(const std::string& host, std::uint16_t port, Handler handler, HttpLimits limits = {},
                   const std::optional<TlsFiles>& tls = std::nullopt, Admission admission = {});
  /// The file is removed by stop().
  Bound listen_unix(const std::filesystem::path& path, Handler handler, HttpLimits limits = {});

  /// For what listens before the rest is ready to answer: no connection is refused, none answered before this.
  void serve();

  std::size_t connections() const;

  /// Whether a handler that runs on this thread may take its time.
  static bool thread_is_lent();

  /// Takes no more connections and requests, lets those under way be answered for `grace_ms`, then closes. A handler
  /// that has not come back by then is left to itself. Idempotent.
  void stop(std::int64_t grace_ms);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krux
