// An HTTP/1.1 server on 127.0.0.1 that hands each request to one function. One thread. Beast parses; answers are
// written as bytes, because faults need every byte in hand.
#pragma once

#include <memory>

#include "emulators/common/http_types.hpp"

namespace krux::test::emulator {

class HttpServer {
 public:
  using Handler = std::function<void(const HttpRequest&, std::shared_ptr<Responder>)>;

  // Port 0 takes a free one; a body above max_body bytes is 413. Throws std::system_error when it cannot listen.
  explicit HttpServer(std::uint16_t port, std::size_t max_body = 4u << 20);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  RunLater run_later();
  // Serves until SIGTERM or SIGINT. The handler runs on the calling thread.
  void run(Handler handler);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace krux::test::emulator
