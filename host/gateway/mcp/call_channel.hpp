// How a call reaches its client before it is answered.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "host/gateway/mcp/calls.hpp"
#include "host/http/http_types.hpp"

namespace krux::mcp {

/// Begins to answer by events when the first thing is said. Any thread.
class CallChannel {
 public:
  using Begin = std::function<std::shared_ptr<CallEvents>()>;
  /// Over a WebSocket `socket`, else by events; both null: nothing is ever said.
  CallChannel(Begin begin, std::shared_ptr<ResponseStream> socket)
      : reaches_(begin || socket), begin_(std::move(begin)), socket_(std::move(socket)) {}

  bool reaches() const { return reaches_; }
  /// Answers by events from now on, whether or not something is said.
  void open();
  /// False: it reaches nobody, or nobody any more.
  bool send(std::string_view message);
  /// The answer comes: nothing is begun from then on, and what it needed for that is let go.
  void close();

 private:
  std::shared_ptr<CallEvents> events();

  const bool reaches_;
  /// Over what follows. Beginning may find that nobody is there, which takes the call back, which closes this.
  std::recursive_mutex mutex_;
  Begin begin_;
  std::shared_ptr<ResponseStream> socket_;
  bool closed_ = false;
  std::shared_ptr<CallEvents> events_;
};

}  // namespace krux::mcp
