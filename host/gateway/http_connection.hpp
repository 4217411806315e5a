// One client's connection: reads a request, hands it on, writes the answer, and watches the limits. Internal to the
// HTTP server. Everything runs on its event loop's thread.
#pragma once

#include <boost/asio/steady_timer.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "host/gateway/byte_stream.hpp"
#include "host/gateway/event_loop.hpp"

namespace krux {

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(EventLoop& loop, std::shared_ptr<ListenerShared> listener, std::unique_ptr<ByteStream> stream,
                 Peer peer);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void start();
  /// Instead of start(): says that there are too many connections, and closes.
  void refuse();
  /// Closes now, or once the request under way is answered.
  void shut_down();
  void close(bool reset);

  void answer(ServerResponse response);

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  enum class Phase { kHandshake, kIdle, kHeader, kBody, kHandling, kWriting, kDraining, kClosed };
  struct Parsing;

  void enter(Phase phase, std::int64_t timeout_ms);
  void watch();
  void out_of_time();

  void read();
  void received(std::size_t size);
  void parse();
  bool header_is_fit();
  bool admitted();
  bool go_on();
  bool keep_body();
  void expect_more();
  void handle();
  void refuse(ServerResponse response);
  void fail(int status, std::string_view message);

  void write(ServerResponse response);
  void written();
  void drain();

  EventLoop& loop_;
  const std::shared_ptr<ListenerShared> listener_;
  const std::unique_ptr<ByteStream> stream_;
  const Peer peer_;

  Phase phase_ = Phase::kHandshake;
  SteadyTime deadline_, body_began_;
  const std::chrono::milliseconds tick_;  ///< the shortest of the limits: how often the deadline is looked at
  boost::asio::steady_timer timer_;

  std::unique_ptr<Parsing> parsing_;
  std::array<char, 16384> chunk_;
  std::string input_;  ///< received and not yet parsed
  bool reading_ = false;
  std::size_t drained_ = 0;

  bool head_only_ = false, keep_alive_ = false, old_version_ = false;
  std::string out_head_;
  ServerResponse out_;
};

}  // namespace krux
