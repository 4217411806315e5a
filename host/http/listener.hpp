// A listening socket: takes connections and hands them to the event loops in turn. Internal to the HTTP server.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <vector>

#include "host/http/byte_stream.hpp"
#include "host/http/event_loop.hpp"
#include "host/http/spare_descriptors.hpp"

namespace krux {

/// Lives on the first of its loops. Alive while its accept is under way.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(const std::vector<std::shared_ptr<EventLoop>>& loops, int socket, std::shared_ptr<ListenerShared> shared);

  const ListenerShared& shared() const { return *shared_; }

  void accept();
  void close();

 private:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

  void failed(const boost::system::error_code& error);
  void accept_after(std::chrono::milliseconds pause);
  void admit(EventLoop& loop, StreamSocket socket);
  void refill_later();
  void tell(const boost::system::error_code& error);

  std::vector<EventLoop*> loops_;  ///< the server ends this listener before it lets go of them
  const std::shared_ptr<ListenerShared> shared_;
  Acceptor acceptor_;
  boost::asio::steady_timer pause_, refill_;
  SpareDescriptors spare_;
  bool refills_ = false;
  std::size_t next_ = 0;
  std::int64_t told_ms_ = -1;  ///< since boot; -1: never
  std::size_t untold_ = 0;
};

}  // namespace krux
