// One end of the socket between the host and a runner.
#pragma once

#include <poll.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <string>

#include "core/util/descriptor.hpp"
#include "host/runner/frame.hpp"

namespace krux {

/// send() may be called from any thread and never blocks; pump() from one thread alone.
class FrameChannel {
 public:
  /// Takes the socket over. Throws std::system_error.
  explicit FrameChannel(int socket);
  FrameChannel(const FrameChannel&) = delete;
  FrameChannel& operator=(const FrameChannel&) = delete;

  /// False: the channel has ended. What the peer does not take at once waits here and goes out with the next pump(); a
  /// peer that leaves too much of it is one that has ended.
  bool send(FrameKind kind, std::uint64_t call, std::uint64_t request, std::string_view payload);

  using OnFrame = std::function<void(Frame)>;
  static constexpr std::size_t kMostOthers = 2;
  /// Waits up to `timeout_ms` (-1: for ever) for bytes, or for one of `others`, which get their `revents`; sends what
  /// waits, hands over every whole frame. False: the peer has closed its end. Throws BadFrame, and whatever `on_frame`
  /// throws.
  bool pump(int timeout_ms, std::span<pollfd> others, const OnFrame& on_frame);

  int socket() const { return socket_.get(); }  ///< for what comes before the first frame

  /// Nothing is sent any more, and the peer reads an end. Any thread.
  void shut();

 private:
  bool flush_locked();
  bool receive(const OnFrame& on_frame);

  const Descriptor socket_, wake_;
  std::mutex mutex_;
  std::string waiting_;  ///< guarded by mutex_
  std::size_t sent_ = 0;
  std::atomic<bool> ended_{false};
  FrameCutter cutter_;
};

}  // namespace krux
