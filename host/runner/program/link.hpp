// The runner's way to the host: requests with their answers, and the host's clock.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/util/clock.hpp"
#include "host/runner/frame_channel.hpp"
#include "host/runner/wire_types.hpp"

namespace krux::runner {

/// Any thread, but deliver().
class Link {
 public:
  explicit Link(int socket) : channel_(socket) {}

  FrameChannel& channel() { return channel_; }
  /// Ends the process when the host does not hear it any more.
  void send(FrameKind kind, std::uint64_t call, std::uint64_t request, std::string_view payload) {
    if (!channel_.send(kind, call, request, payload)) _exit(1);
  }

  /// By the thread that reads the socket: what belongs to a request that nobody waits for is dropped.
  void deliver(Frame frame);

 private:
  friend class Request;
  struct Waiting {
    std::deque<Frame> frames;
    std::condition_variable arrived;
  };

  FrameChannel channel_;
  std::mutex mutex_;
  std::map<std::uint64_t, Waiting> waiting_;
  std::uint64_t next_ = 1;
};

/// One request; what comes for it is taken by one thread, in order. The process ends when the host does, so that
/// nobody waits for ever.
class Request {
 public:
  Request(Link& link, std::uint64_t call, FrameKind kind, std::string_view payload);
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  Frame next();
  void taken();       ///< one more part was used
  void stop_parts();  ///< enough
  /// Answers a kPull from `source` (as krux_source.read).
  template <class Source>
  void pulled(const Frame& pull, const Source& source) {
    const auto capacity = std::min<std::size_t>(WireReader(pull.payload).u32(), kPartBytes);
    std::string bytes(capacity, '\0');
    const auto got = source(bytes.data(), capacity);
    WireWriter out;
    out.flag(got >= 0);
    if (got > 0) out.raw(std::string_view(bytes).substr(0, static_cast<std::size_t>(got)));
    link_.send(FrameKind::kPulled, call_, id_, out.bytes());
  }

 private:
  Link& link_;
  const std::uint64_t call_;
  std::uint64_t id_ = 0;
  std::uint32_t used_ = 0;
};

/// The host's: tests drive it. What was heard of it counts for a millisecond, so that a loop which asks does not keep
/// the host busy. Whether a call's time is over the host says by cancelling it: here it stands still.
class HostClock final : public Clock {
 public:
  explicit HostClock(Link& link) : link_(link) {}
  void heard(std::int64_t wall_ms);
  std::int64_t wall_ms() const override;
  std::int64_t boot_ms() const override { return 0; }
  bool wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& cv, std::int64_t,
                  const std::function<bool()>& stop_waiting) override {
    cv.wait(lock, stop_waiting);
    return true;
  }

 private:
  Link& link_;
  mutable std::mutex mutex_;
  mutable std::int64_t wall_ms_ = 0, heard_ns_ = -1;
};

}  // namespace krux::runner
