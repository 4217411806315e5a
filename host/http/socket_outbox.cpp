#include "host/http/socket_outbox.hpp"

#include <utility>

namespace krux {
namespace {

/// So much more than its text does a message take up.
constexpr std::size_t kOfMessage = 64;

class OutboxStream final : public ResponseStream {
 public:
  explicit OutboxStream(std::shared_ptr<SocketOutbox> outbox) : outbox_(std::move(outbox)) {}

  bool send(std::string_view bytes) override { return outbox_->send(bytes); }
  void end_with(std::string_view last) override { outbox_->end_with(last); }
  void when_gone(std::function<void()> gone) override { outbox_->when_gone(std::move(gone)); }

 private:
  const std::shared_ptr<SocketOutbox> outbox_;
};

}  // namespace

std::shared_ptr<ResponseStream> SocketOutbox::make_stream() {
  return std::make_shared<OutboxStream>(shared_from_this());
}

std::vector<std::string> SocketOutbox::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

void SocketOutbox::sent(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  unsent_ -= bytes + kOfMessage;
}

bool SocketOutbox::is_too_much() const {
  const std::lock_guard lock(mutex_);
  return too_much_;
}

bool SocketOutbox::is_ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void SocketOutbox::close() {
  std::function<void()> gone;
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
    gone = std::exchange(gone_, nullptr);
  }
  if (gone) gone();
}

bool SocketOutbox::send(std::string_view message) {
  bool fits = false, wakes = false;
  {
    const std::lock_guard lock(mutex_);
    if (!open_ || ended_) return false;
    fits = message.size() + kOfMessage <= most_unsent_ - unsent_;
    if (fits) {
      unsent_ += message.size() + kOfMessage;
      wakes = waiting_.empty();  // else it was woken for those before, and has not come yet
      waiting_.emplace_back(message);
    } else {
      too_much_ = wakes = true;
      open_ = false;
      waiting_ = {};
    }
  }
  if (wakes) wake_();
  return fits;
}

void SocketOutbox::end_with(std::string_view last) {
  {
    const std::lock_guard lock(mutex_);
    if (!open_ || std::exchange(ended_, true)) return;
    if (!last.empty()) {
      unsent_ += last.size() + kOfMessage;
      waiting_.emplace_back(last);
    }
  }
  wake_();
}

void SocketOutbox::when_gone(std::function<void()> gone) {
  {
    const std::lock_guard lock(mutex_);
    if (open_) {
      std::swap(gone_, gone);
      return;
    }
  }
  gone();
}

}  // namespace krux
