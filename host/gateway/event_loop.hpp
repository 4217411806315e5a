// One thread's event loop and the connections that live on it. Internal to the HTTP server.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>

#include "host/gateway/http_server.hpp"

namespace krux {

class ByteStream;
class HttpConnection;
class TlsContext;

/// What the connections of one listener share. Outlives the server where an answer is still on its way.
struct ListenerShared {
  Handler handler;
  std::optional<Admission> admission;
  HttpLimits limits;
  std::unique_ptr<TlsContext> tls;
  std::atomic<std::size_t> connections{0};
};

/// Kept alive by the server and by each request that is not answered yet.
struct EventLoop : std::enable_shared_from_this<EventLoop> {
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
  std::thread thread;
  // Behind the context: destroyed before it. Touched on the loop's thread, or once that has ended.
  bool stopping = false;
  std::unordered_map<HttpConnection*, std::shared_ptr<HttpConnection>> connections;
};

}  // namespace krux
