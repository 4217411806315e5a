#include "host/http/chunked_body.hpp"

#include <algorithm>

namespace krux {
namespace {

constexpr int kMostDigits = 16;  // of a 64-bit number

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// RFC 9110's tchar.
bool is_token(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

/// What may stand in an extension or a trailer's value.
bool is_text(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

}  // namespace

ChunkedBody::State ChunkedBody::take(std::string_view& bytes, std::string& out) {
  while (!bytes.empty()) {
    if (at_ == At::kData) {
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(size_, bytes.size()));
      out.append(bytes.substr(0, n));
      bytes.remove_prefix(n);
      size_ -= n;
      if (size_ == 0) at_ = At::kDataEnd;
      continue;
    }
    const char c = bytes.front();
    bytes.remove_prefix(1);
    const auto state = step(c);
    if (state != State::kMore) return state;
  }
  return State::kMore;
}

ChunkedBody::State ChunkedBody::step(char c) {
  switch (at_) {
    case At::kSize:
    case At::kMoreSize:
      return digit(c);
    case At::kBlank:
    case At::kExtension:
      return extension(c);
    case At::kSizeEnd:
      if (c != '\n') return State::kBroken;
      at_ = size_ == 0 ? At::kTrailer : At::kData;
      left_ -= size_;
      return State::kMore;
    case At::kDataEnd:
      return expect(c, '\r', At::kDataFeed);
    case At::kDataFeed:
      size_ = 0;
      digits_ = 0;
      return expect(c, '\n', At::kSize);
    case At::kTrailerEnd:
      return expect(c, '\n', At::kTrailer);
    case At::kEnd:
      return c == '\n' ? State::kDone : State::kBroken;
    default:
      return trailer(c);
  }
}

ChunkedBody::State ChunkedBody::digit(char c) {
  const int value = hex_value(c);
  if (value >= 0) {
    if (++digits_ > kMostDigits) return State::kBroken;
    size_ = size_ * 16 + static_cast<unsigned>(value);
    at_ = At::kMoreSize;
    return State::kMore;
  }
  if (at_ == At::kSize) return State::kBroken;
  if (size_ > left_) return State::kTooLarge;
  if (c == '\r') return expect(c, '\r', At::kSizeEnd);
  return extension(c);
}

ChunkedBody::State ChunkedBody::extension(char c) {
  if (c == '\r' && at_ == At::kExtension) return expect(c, '\r', At::kSizeEnd);
  if (at_ == At::kExtension) return is_text(c) ? extra(At::kExtension) : State::kBroken;
  if (c == ';') return extra(At::kExtension);
  return c == ' ' || c == '\t' ? extra(At::kBlank) : State::kBroken;
}

ChunkedBody::State ChunkedBody::trailer(char c) {
  if (at_ == At::kTrailer && c == '\r') return expect(c, '\r', At::kEnd);
  if (at_ == At::kTrailerValue && c == '\r') return expect(c, '\r', At::kTrailerEnd);
  if (at_ == At::kTrailerValue) return is_text(c) ? extra(At::kTrailerValue) : State::kBroken;
  if (at_ == At::kTrailerName && c == ':') return extra(At::kTrailerValue);
  return is_token(c) ? extra(At::kTrailerName) : State::kBroken;
}

ChunkedBody::State ChunkedBody::expect(char c, char expected, At next) {
  if (c != expected) return State::kBroken;
  at_ = next;
  return State::kMore;
}

/// One more byte that is no part of the body.
ChunkedBody::State ChunkedBody::extra(At next) {
  if (extra_left_ == 0) return State::kTooLong;
  --extra_left_;
  at_ = next;
  return State::kMore;
}

}  // namespace krux
