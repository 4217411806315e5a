#include "host/runner/frame.hpp"

#include <fmt/format.h>

namespace krux {
namespace {

constexpr std::size_t kLengthBytes = 4, kHeadBytes = 1 + 8 + 8;

bool is_kind(std::uint8_t kind) {
  const auto in = [kind](FrameKind first, FrameKind last) {
    return kind >= static_cast<std::uint8_t>(first) && kind <= static_cast<std::uint8_t>(last);
  };
  return in(FrameKind::kCall, FrameKind::kTime) || in(FrameKind::kHello, FrameKind::kAskTime);
}

}  // namespace

std::string frame_bytes(FrameKind kind, std::uint64_t call, std::uint64_t request, std::string_view payload) {
  if (payload.size() > kLargestFrame - kHeadBytes) throw std::length_error("A frame is too large.");
  return WireWriter()
      .u32(static_cast<std::uint32_t>(kHeadBytes + payload.size()))
      .u8(static_cast<std::uint8_t>(kind))
      .u64(call)
      .u64(request)
      .raw(payload)
      .take();
}

std::optional<Frame> FrameCutter::next() {
  const auto left = std::string_view(buffer_).substr(used_);
  if (left.size() >= kLengthBytes) {
    const auto size = WireReader(left).u32();
    if (size < kHeadBytes || size > kLargestFrame) throw BadFrame(fmt::format("A frame claims {} bytes.", size));
    if (left.size() - kLengthBytes >= size) {
      WireReader body(left.substr(kLengthBytes, size));
      const auto kind = body.u8();
      if (!is_kind(kind)) throw BadFrame(fmt::format("There is no kind {} of frame.", kind));
      Frame frame{static_cast<FrameKind>(kind), body.u64(), body.u64(), std::string(body.rest())};
      used_ += kLengthBytes + size;
      return frame;
    }
  }
  buffer_.erase(0, used_);
  used_ = 0;
  return std::nullopt;
}

}  // namespace krux
