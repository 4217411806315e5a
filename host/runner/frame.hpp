// The frames between the host and a runner. docs/isolation.md has the protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/sandbox/wire.hpp"

namespace krux {

/// Both programs come from one build; a runner of another one is refused at its hello.
inline constexpr std::uint32_t kWireVersion = 8;
/// Of streamed rows, blobs and bodies: a part is sent when it has grown to this, and so many may be on their way.
inline constexpr std::size_t kPartBytes = 64 * 1024;
inline constexpr std::uint32_t kPartsAhead = 8;
/// HTTP requests of one call at once.
inline constexpr std::size_t kMostExchanges = 16;

enum class FrameKind : std::uint8_t {
  // host to runner
  kCall = 1,
  kCancel = 2,
  kDestroy = 3,
  kStop = 4,
  kAnswer = 5,  ///< the last word on a request
  kPart = 6,    ///< rows or bytes of a request's answer
  kHead = 7,    ///< status and headers of an HTTP answer
  kPull = 8,    ///< more bytes of what the request sends, please
  kTime = 9,
  // runner to host
  kHello = 32,
  kReturned = 33,
  kRequest = 34,
  kPulled = 35,
  kTaken = 36,      ///< so many parts were used
  kStopParts = 37,  ///< the receiver has enough
  kLog = 38,
  kAskTime = 39,
};

/// What a kRequest asks of the host.
enum class RequestKind : std::uint8_t {
  kGet,
  kQuery,
  kBlob,
  kPut,
  kErase,
  kSweep,
  kPutBlob,
  kGetCursor,
  kSetCursor,
  kCommit,
  kReport,
  kRemember,
  kSend,
  kKeep,
  kKeepText,
  kReadUpload,
  kLeaveOut,
  kEraseBlob,
  kPutFetched,
  kProgress,
  kTell,
  kAskInput,
};
inline constexpr std::uint8_t kRequestKinds = 22;

struct Frame {
  FrameKind kind = FrameKind::kStop;
  std::uint64_t call = 0, request = 0;
  std::string payload;
};

/// A whole frame as it travels. Throws std::length_error when it is too large.
std::string frame_bytes(FrameKind kind, std::uint64_t call, std::uint64_t request, std::string_view payload);

/// Cuts a stream of bytes into frames. What it holds grows with what came, not with what a length claims.
class FrameCutter {
 public:
  void add(std::string_view bytes) { buffer_.append(bytes); }
  /// The next whole frame. Throws BadFrame for a length or a kind that cannot be.
  std::optional<Frame> next();

 private:
  std::string buffer_;
  std::size_t used_ = 0;
};

}  // namespace krux
