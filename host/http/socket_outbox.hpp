// What is said over a WebSocket without having been asked, on its way from those who say it to its connection. Internal
// to the HTTP server.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "host/http/http_types.hpp"

namespace krux {

/// Holds no lock while it calls somebody.
class SocketOutbox : public std::enable_shared_from_this<SocketOutbox> {
 public:
  /// `wake` runs on any thread and must do no more than pass on that the connection has something to look at.
  SocketOutbox(std::size_t most_unsent, std::function<void()> wake)
      : most_unsent_(most_unsent), wake_(std::move(wake)) {}

  /// For those who say something. Letting go of it ends nothing.
  std::shared_ptr<ResponseStream> make_stream();

  // The connection's.
  /// The messages that came since; each counts until it is sent().
  std::vector<std::string> take();
  void sent(std::size_t bytes);
  /// More came than may be unsent.
  bool is_too_much() const;
  bool is_ended() const;
  /// Nothing more is taken, and whoever wants to hear that the client has gone is told so.
  void close();

  // The stream's, on any thread.
  bool send(std::string_view message);
  /// `last` is one more message, unless it is empty.
  void end_with(std::string_view last);
  void when_gone(std::function<void()> gone);

 private:
  const std::size_t most_unsent_;
  const std::function<void()> wake_;

  mutable std::mutex mutex_;  ///< over what follows
  std::vector<std::string> waiting_;
  std::size_t unsent_ = 0;
  bool open_ = true, ended_ = false, too_much_ = false;
  std::function<void()> gone_;
};

}  // namespace krux
