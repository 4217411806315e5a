// Outbound sockets with and without TLS. Every operation runs on one event loop; the calling thread waits for it on its
// Watch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/net/address.hpp"
#include "core/net/watch.hpp"

namespace krux {

struct IoResult {
  Watch::Ended ended = Watch::Ended::kDone;  ///< anything but kDone: interrupted, the connection is closed
  bool eof = false;                          ///< the peer ended the stream properly
  std::string error;                         ///< in words; empty: it worked, or eof
  std::size_t bytes = 0;

  bool ok() const { return ended == Watch::Ended::kDone && error.empty() && !eof; }
};

/// The event loop's thread and the TLS settings that all outbound connections share. Must outlive its connections.
class Network {
 public:
  /// Trusts the system's certificate authorities and those in `extra_ca_file` (PEM; empty: none). Throws ConfigError.
  explicit Network(const std::string& extra_ca_file);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// One connection, used by one thread at a time. After an operation that is not ok() it is only good for being
/// destroyed.
class WireConnection {
 public:
  explicit WireConnection(Network& network);
  ~WireConnection();
  WireConnection(const WireConnection&) = delete;
  WireConnection& operator=(const WireConnection&) = delete;

  /// Gives up at `until` with an ordinary error, at the watch's deadline with kDeadline.
  IoResult connect(const IpAddress& address, std::uint16_t port, Watch& watch, Watch::Instant until);

  /// TLS 1.2 or later, the certificate's chain and its name for `host` verified.
  IoResult secure(const std::string& host, bool host_is_address, Watch& watch);

  IoResult write(std::string_view bytes, Watch& watch);
  /// At least one byte, at most `capacity`.
  IoResult read(char* buffer, std::size_t capacity, Watch& watch);

  /// Whether an idle connection is still open with nothing waiting to be read.
  bool quiet() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace krux
