// Values as they travel between the host and a process that it confines. docs/isolation.md has the protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace krux {

inline constexpr std::size_t kLargestFrame = std::size_t{20} << 20;

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

}  // namespace krux
