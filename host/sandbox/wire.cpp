#include "host/sandbox/wire.hpp"

#include <fmt/format.h>

#include "core/util/text.hpp"

namespace krux {
namespace {

template <class Number>
void put_number(std::string& out, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) out += static_cast<char>((value >> (8 * i)) & 0xFF);
}

template <class Number>
Number number_of(std::string_view bytes) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value |= static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(bytes[i])) << (8 * i));
  }
  return value;
}

}  // namespace

WireWriter& WireWriter::u8(std::uint8_t value) {
  out_ += static_cast<char>(value);
  return *this;
}

WireWriter& WireWriter::u32(std::uint32_t value) {
  put_number(out_, value);
  return *this;
}

WireWriter& WireWriter::u64(std::uint64_t value) {
  put_number(out_, value);
  return *this;
}

WireWriter& WireWriter::text(std::string_view value) {
  if (value.size() > kLargestFrame) throw std::length_error("A value is too large for a frame.");
  u32(static_cast<std::uint32_t>(value.size()));
  return raw(value);
}

WireWriter& WireWriter::optional(const std::optional<std::int64_t>& value) {
  flag(value.has_value());
  return value ? i64(*value) : *this;
}

WireWriter& WireWriter::raw(std::string_view bytes) {
  out_ += bytes;
  return *this;
}

std::string_view WireReader::take(std::size_t size) {
  if (size > left_.size()) throw BadFrame("A frame ends in the middle of a value.");
  const auto taken = left_.substr(0, size);
  left_.remove_prefix(size);
  return taken;
}

std::uint8_t WireReader::u8() {
  return number_of<std::uint8_t>(take(1));
}
std::uint32_t WireReader::u32() {
  return number_of<std::uint32_t>(take(4));
}
std::uint64_t WireReader::u64() {
  return number_of<std::uint64_t>(take(8));
}

bool WireReader::flag() {
  return below(2) == 1;
}

std::uint8_t WireReader::below(std::uint8_t limit) {
  const auto value = u8();
  if (value >= limit) throw BadFrame(fmt::format("A frame has the value {} where at most {} fits.", value, limit - 1));
  return value;
}

std::string_view WireReader::bytes(std::size_t max) {
  const auto size = u32();
  if (size > max) throw BadFrame(fmt::format("A value of a frame has {} bytes, at most {} are allowed.", size, max));
  return take(size);
}

std::string_view WireReader::text(std::size_t max) {
  const auto value = bytes(max);
  if (!is_valid_utf8(value)) throw BadFrame("A text of a frame is not valid UTF-8.");
  if (value.find('\0') != std::string_view::npos) throw BadFrame("A text of a frame has a NUL in it.");
  return value;
}

std::optional<std::int64_t> WireReader::optional() {
  return flag() ? std::optional(i64()) : std::nullopt;
}

std::uint32_t WireReader::count(std::uint32_t max) {
  const auto value = u32();
  if (value > max) throw BadFrame(fmt::format("A list of a frame has {} items, at most {} are allowed.", value, max));
  return value;
}

std::string_view WireReader::rest() {
  return take(left_.size());
}

void WireReader::end() const {
  if (!left_.empty()) throw BadFrame(fmt::format("A frame has {} bytes too many.", left_.size()));
}

}  // namespace krux
