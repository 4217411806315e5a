#include "host/http/response_stream.hpp"

#include <fmt/format.h>

#include <utility>

namespace krux {
namespace {

/// Written at a time, so that a client which reads slowly is not taken for one that does not read.
constexpr std::size_t kPieceBytes = 64 << 10;

class PartsStream final : public ResponseStream {
 public:
  explicit PartsStream(std::shared_ptr<ResponseParts> parts) : parts_(std::move(parts)) {}
  ~PartsStream() override { parts_->let_go(); }
  PartsStream(const PartsStream&) = delete;
  PartsStream& operator=(const PartsStream&) = delete;

  bool send(std::string_view bytes) override { return parts_->send(bytes); }
  void end_with(std::string_view last) override { parts_->end_with(last); }
  void when_gone(std::function<void()> gone) override { parts_->when_gone(std::move(gone)); }

 private:
  const std::shared_ptr<ResponseParts> parts_;
};

}  // namespace

std::shared_ptr<ResponseStream> ResponseParts::make_stream() {
  return std::make_shared<PartsStream>(shared_from_this());
}

// ---- the connection's

std::optional<ResponseParts::Piece> ResponseParts::next() {
  std::string piece;
  auto then = Then::kMore;
  {
    const std::lock_guard lock(mutex_);
    being_written_ = 0;
    if (waiting_.empty() && open_) {
      awaited_ = true;
      return std::nullopt;
    }
    if (waiting_.size() <= kPieceBytes) {
      piece = std::exchange(waiting_, {});
    } else {
      piece = waiting_.substr(0, kPieceBytes);
      waiting_.erase(0, kPieceBytes);
    }
    being_written_ = piece.size();
    if (!open_ && waiting_.empty()) then = ended_ ? Then::kEnd : Then::kCut;
  }
  return Piece{encode(piece, then == Then::kEnd), then};
}

std::string ResponseParts::encode(std::string_view bytes, bool last) const {
  if (coding_ == Coding::kNone) return std::string(bytes);
  // Without bytes a chunk would be the last one.
  auto chunks = bytes.empty() ? std::string() : fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
  if (last) chunks += "0\r\n\r\n";
  return chunks;
}

bool ResponseParts::is_too_much() const {
  const std::lock_guard lock(mutex_);
  return too_much_;
}

void ResponseParts::close() {
  std::function<void()> gone;
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
    gone = std::exchange(gone_, nullptr);
  }
  if (gone) gone();
}

// ---- the stream's

bool ResponseParts::send(std::string_view bytes) {
  bool fits = false, wakes = false;
  {
    const std::lock_guard lock(mutex_);
    if (!open_) return false;
    fits = bytes.size() <= most_unsent_ - being_written_ - waiting_.size();
    if (fits) {
      waiting_.append(bytes);
      wakes = !waiting_.empty() && std::exchange(awaited_, false);
    } else {
      too_much_ = wakes = true;
      open_ = false;
      waiting_ = {};
    }
  }
  if (wakes) wake_();
  return fits;
}

void ResponseParts::end_with(std::string_view last) {
  finish(last, true);
}

void ResponseParts::let_go() {
  finish({}, false);
}

void ResponseParts::finish(std::string_view last, bool ended) {
  std::function<void()> unwanted;  // which may hold the stream itself
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    if (!open_) return;
    waiting_.append(last);
    open_ = false;
    ended_ = ended;
    unwanted = std::exchange(gone_, nullptr);
    wakes = std::exchange(awaited_, false);
  }
  if (wakes) wake_();
}

void ResponseParts::when_gone(std::function<void()> gone) {
  {
    const std::lock_guard lock(mutex_);
    if (open_) std::swap(gone_, gone);
    if (open_ || ended_) return;
  }
  gone();
}

}  // namespace krux
