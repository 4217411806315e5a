// The bytes between the host and a runner: frames, and the values in them. docs/isolation.md has the protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace krux {

/// Both programs come from one build; a runner of another one is refused at its hello.
inline constexpr std::uint32_t kWireVersion = 2;
inline constexpr std::size_t kLargestFrame = std::size_t{20} << 20;
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

/// Which function of the adapter a kCall is for.
enum class CallFunction : std::uint8_t {
  kCreate,
  kFullSync,
  kIncrementalSync,
  kRead,
  kResolve,
  kExecuteWrite,
  kFindEffect,
  kSupportsRollback,
  kCreateRollbackPoint,
  kRollback,
  kFindRollback,
  kVerify,
  kRevoke,
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
};
inline constexpr std::uint8_t kRequestKinds = 16;

struct Frame {
  FrameKind kind = FrameKind::kStop;
  std::uint64_t call = 0, request = 0;
  std::string payload;
};

/// What came is none of ours; the sentence says what is wrong with it. Whoever sent it is not listened to any more.
class BadFrame : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Little-endian numbers, texts behind their length.
class WireWriter {
 public:
  WireWriter& u8(std::uint8_t value);
  WireWriter& u32(std::uint32_t value);
  WireWriter& u64(std::uint64_t value);
  WireWriter& i64(std::int64_t value) { return u64(static_cast<std::uint64_t>(value)); }
  WireWriter& flag(bool value) { return u8(value ? 1 : 0); }
  WireWriter& text(std::string_view value);
  WireWriter& optional(const std::optional<std::int64_t>& value);
  WireWriter& raw(std::string_view bytes);

  const std::string& bytes() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// Throws BadFrame for whatever is missing, too long, or not what it should be. Views live as long as the payload.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : left_(bytes) {}

  std::uint8_t u8();
  std::uint32_t u32();
  std::uint64_t u64();
  std::int64_t i64() { return static_cast<std::int64_t>(u64()); }
  bool flag();
  std::uint8_t below(std::uint8_t limit);  ///< an enumerator's number
  std::string_view bytes(std::size_t max);
  std::string_view text(std::size_t max);  ///< UTF-8 without NUL
  std::optional<std::int64_t> optional();
  std::uint32_t count(std::uint32_t max);  ///< of a list
  std::string_view rest();
  bool empty() const { return left_.empty(); }
  void end() const;  ///< nothing may be left

 private:
  std::string_view take(std::size_t size);
  std::string_view left_;
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
