// The one HTTP/1.1 server of the host: agents' gateway, health, operator's socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "host/gateway/http_types.hpp"

namespace krux {

/// Past a limit the client gets a clear answer (408, 413, 431, 503) and only its own connection is closed.
struct HttpLimits {
  std::size_t header_bytes = 16 * 1024;
  std::size_t body_bytes = 1 << 20;
  std::size_t connections = 1024;
  std::int64_t header_ms = 10'000;  ///< from the connection or the request's first byte to the end of its header
  std::int64_t body_ms = 30'000;    ///< from there to the end of its body
  std::int64_t idle_ms = 75'000;    ///< between two requests
  std::int64_t write_ms = 60'000;   ///< for the whole answer
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
  /// Each thread is an event loop of its own; a connection stays with one. kLater: connections wait until serve().
  explicit HttpServer(int threads = 1, Begin begin = Begin::kAtOnce);
  ~HttpServer();  ///< stop(0)
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  struct Bound {
    std::uint16_t port = 0;
    bool loopback = false;
  };
  /// Port 0 takes a free one. Throws ConfigError.
  Bound listen_tcp(const std::string& host, std::uint16_t port, Handler handler, HttpLimits limits = {},
                   const std::optional<TlsFiles>& tls = std::nullopt, std::optional<Admission> admission = {});
  /// The file is removed by stop().
  void listen_unix(const std::filesystem::path& path, Handler handler, HttpLimits limits = {});

  /// For what listens before the rest is ready to answer: no connection is refused, none answered before this.
  void serve();

  std::size_t connections() const;

  /// Takes no more connections and requests, lets those under way be answered for `grace_ms`, then closes. Idempotent.
  void stop(std::int64_t grace_ms);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krux
