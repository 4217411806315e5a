// One connected socket, plain or under TLS, on its event loop's thread. Internal to the HTTP server.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "host/gateway/http_server.hpp"

namespace krux {

using StreamSocket = boost::asio::generic::stream_protocol::socket;
using IoDone = std::function<void(const boost::system::error_code&, std::size_t)>;

/// Callbacks run on the event loop, never from within the call. One read and one write may be under way at a time; what
/// they are given stays alive until they have called back.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual void handshake(IoDone done) = 0;
  virtual void read_some(char* buffer, std::size_t size, IoDone done) = 0;
  virtual void write_all(std::string_view head, std::string_view body, IoDone done) = 0;
  /// Says that nothing more will be written; reading goes on.
  virtual void end_writing(IoDone done) = 0;
  /// What is under way calls back with an error. `reset`: bytes still waiting to be sent are thrown away.
  virtual void close(bool reset) = 0;
};

std::unique_ptr<ByteStream> make_plain_stream(StreamSocket socket);

/// A certificate with its key. Any thread.
class TlsContext {
 public:
  /// Throws ConfigError where a file cannot be used or they do not belong together.
  explicit TlsContext(const TlsFiles& files);
  ~TlsContext();
  std::unique_ptr<ByteStream> make_stream(StreamSocket socket) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krux
