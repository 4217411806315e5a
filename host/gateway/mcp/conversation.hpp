// A client's connection that is its session: the model with handshakes over a WebSocket.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "host/http/http_types.hpp"

namespace krux::mcp {

/// Any thread.
class Conversation {
 public:
  /// `out`: for what the client is told without having asked, a message each.
  explicit Conversation(std::shared_ptr<ResponseStream> out) : out_(std::move(out)) {}

  /// No other has it, also not after this one's end: calls that it began may still be under way then.
  std::string key() const { return "WebSocket " + std::to_string(number_); }
  /// The client has initialized it. False: it had before.
  bool begin() {
    const std::lock_guard lock(mutex_);
    return !std::exchange(begun_, true);
  }
  bool has_begun() const {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  /// The session that has begun with it; empty: none is stored.
  void is_session(const std::string& session_id) {
    const std::lock_guard lock(mutex_);
    session_id_ = session_id;
  }
  std::string session_id() const {
    const std::lock_guard lock(mutex_);
    return session_id_;
  }
  /// The client has said that it listens: where to tell it, the first time after begin().
  std::shared_ptr<ResponseStream> to_listener() {
    const std::lock_guard lock(mutex_);
    return begun_ ? std::exchange(out_, nullptr) : nullptr;
  }

 private:
  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  const std::uint64_t number_ = next_number();
  mutable std::mutex mutex_;  ///< over what follows
  bool begun_ = false;
  std::string session_id_;
  std::shared_ptr<ResponseStream> out_;
};

}  // namespace krux::mcp
