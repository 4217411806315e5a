// One request on its way in, from its first byte to its last: the header, then the body. Knows nothing of sockets and
// time. Internal to the HTTP server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/http/body_writer.hpp"
#include "host/http/chunked_body.hpp"
#include "host/http/http_server.hpp"

namespace krux {

class IncomingRequest {
 public:
  enum class State {
    kHeader,
    kHeaderRead,  ///< the body is taken after accept()
    kBody,
    kDone,
    kRefused
  };
  struct Refusal {
    int status = 400;
    std::string message;
  };

  explicit IncomingRequest(const HttpLimits& limits);
  ~IncomingRequest();
  IncomingRequest(const IncomingRequest&) = delete;
  IncomingRequest& operator=(const IncomingRequest&) = delete;

  /// Takes what it can use from the front of `bytes` and says how many those were. What is left of a header comes again
  /// with the next call; it is never more than the limit.
  std::size_t take(std::string_view bytes);
  State state() const { return state_; }
  const Refusal& refusal() const { return refusal_; }

  // From kHeaderRead on.
  /// What is known of it by now.
  ServerRequest& request() { return request_; }
  /// Whether more is to come.
  bool has_body() const { return chunked_ || length_ > 0; }
  bool keep_alive() const { return keep_alive_; }
  bool old_version() const { return old_version_; }
  /// Whether the client waits to be told that its body is wanted.
  bool waits_for_continue() const { return waits_for_continue_; }
  /// Lets the body come, into memory or to a file, within the limit that counts for it. Throws krux::Error where the
  /// file cannot be made.
  void accept(const std::optional<BodyToFile>& to_file);
  /// Milliseconds that a body into a file may take by now; nothing where it goes into memory.
  std::optional<std::int64_t> allowed_ms() const;

  /// At kDone.
  ServerRequest finish();

 private:
  struct Header;
  std::size_t take_header(std::string_view bytes);
  std::size_t take_body(std::string_view bytes);
  void read_header();
  bool header_is_fit();
  bool refuse(int status, std::string message);
  void keep_body();
  void body_came(ChunkedBody::State state);
  bool is_too_large();

  const std::size_t most_header_;
  std::uint64_t most_body_;
  State state_ = State::kHeader;
  Refusal refusal_;
  std::unique_ptr<Header> header_;  ///< until it is read
  std::size_t header_bytes_ = 0;    ///< taken

  ServerRequest request_;
  bool keep_alive_ = false, old_version_ = false, waits_for_continue_ = false, chunked_ = false;
  std::uint64_t length_ = 0;  ///< of the body, still to come
  std::optional<ChunkedBody> chunks_;
  std::optional<BodyWriter> file_;
};

}  // namespace krux
