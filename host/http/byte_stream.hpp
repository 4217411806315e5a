// One connected socket, plain or under TLS, on its event loop's thread. Internal to the HTTP server.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "host/http/http_server.hpp"

namespace krux {

using StreamSocket = boost::asio::generic::stream_protocol::socket;
using IoDone = std::function<void(const boost::system::error_code&)>;
/// The bytes are lent until it returns, and it may overwrite them.
using ReadDone = std::function<void(const boost::system::error_code&, std::span<char> bytes)>;

/// Callbacks run on the event loop, never from within the call. One read and one write may be under way at a time; what
/// they are given stays alive until they have called back.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual void handshake(IoDone done) = 0;
  virtual void read_some(ReadDone done) = 0;
  /// Whether something has come that was not read yet.
  virtual bool has_bytes() const = 0;
  /// Sends what goes out without waiting: how many bytes of `head` and `body` together. The rest, after a failure all
  /// of it, is for write_all(). 0 where it costs no less than that.
  virtual std::size_t write_now(std::string_view head, std::string_view body) {
    (void)head, (void)body;
    return 0;
  }
  virtual void write_all(std::string_view head, std::string_view body, IoDone done) = 0;
  /// Says that nothing more will be written; reading goes on.
  virtual void end_writing(IoDone done) = 0;
  /// What is under way calls back with an error. `reset`: bytes still waiting to be sent are thrown away.
  virtual void close(bool reset) = 0;
};

/// `buffer` is read into, by all streams of a loop: one that waits for bytes needs no memory for them.
std::unique_ptr<ByteStream> make_plain_stream(StreamSocket socket, std::span<char> buffer);

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
