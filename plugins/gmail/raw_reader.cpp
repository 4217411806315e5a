#include "raw_reader.hpp"

namespace gmail {
namespace {

constexpr std::size_t kLongestKey = 16, kLongestThreadId = 128;
constexpr std::size_t kLargestGrown = 1 << 20;

int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '-' || c == '+') return 62;
  if (c == '_' || c == '/') return 63;
  return -1;
}

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void RawReader::take(std::string_view part) {
  for (const char c : part) {
    if (broken_) return;
    switch (state_) {
      case State::kStart:
      case State::kOutside:
      case State::kEnd:
        outside(c);
        break;
      case State::kText:
        text(c);
        break;
      case State::kEscape:
        escaped(c);
        break;
      case State::kUnicode:
        if (hex(c) < 0) broken_ = true;
        unicode_ = unicode_ << 4 | static_cast<std::uint32_t>(hex(c) & 15);
        if (++unicode_digits_ < 4) break;
        state_ = State::kText;
        character(unicode_ < 0x80 ? static_cast<char>(unicode_) : '\x7f');
        break;
    }
  }
}

/// Only the outermost object's names matter: what is within other values is passed over.
void RawReader::outside(char c) {
  const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
  if (blank) return;
  if (state_ == State::kEnd || (state_ == State::kStart && c != '{')) {
    broken_ = true;
    return;
  }
  if (c == '{' || c == '[') {
    ++depth_;
    wants_key_ = c == '{' && depth_ == 1;
    state_ = State::kOutside;
  } else if (c == '}' || c == ']') {
    --depth_;
    if (depth_ == 0) state_ = State::kEnd;
  } else if (c == ',') {
    wants_key_ = depth_ == 1;
    is_raw_ = is_thread_ = false;
  } else if (c == '"') {
    state_ = State::kText;
    is_key_ = wants_key_;
    wants_key_ = false;
    if (is_key_) key_.clear();
    if (is_raw_ && depth_ == 1 && !is_key_) {
      if (found_) broken_ = true;
      found_ = true;
    }
  }
}

void RawReader::text(char c) {
  if (c == '"') {
    text_ended();
  } else if (c == '\\') {
    state_ = State::kEscape;
  } else {
    character(c);
  }
}

void RawReader::text_ended() {
  state_ = State::kOutside;
  if (is_key_) {
    is_raw_ = key_ == "raw";
    is_thread_ = key_ == "threadId";
  } else if (is_raw_ && depth_ == 1) {
    // What is left of an incomplete group is no byte; six bits alone are none of base64.
    if (bit_count_ >= 6) broken_ = true;
    is_raw_ = false;
  }
}

void RawReader::escaped(char c) {
  if (c == 'u') {
    state_ = State::kUnicode;
    unicode_ = 0;
    unicode_digits_ = 0;
    return;
  }
  state_ = State::kText;
  character(c == 'n' || c == 'r' || c == 't' ? '\n' : c);
}

void RawReader::character(char c) {
  if (is_key_) {
    if (key_.size() < kLongestKey) key_ += c;
  } else if (is_raw_ && depth_ == 1) {
    sextet(c);
  } else if (is_thread_ && depth_ == 1) {
    if (thread_id_.size() < kLongestThreadId) thread_id_ += c;
  }
}

void RawReader::sextet(char c) {
  if (c == '\n' || c == '\r') return;
  const int value = value_of(c);
  if (c == '=') {
    padded_ = true;
  } else if (value < 0 || padded_) {
    broken_ = true;
  } else {
    bits_ = bits_ << 6 | static_cast<std::uint32_t>(value);
    bit_count_ += 6;
    if (bit_count_ < 8) return;
    bit_count_ -= 8;
    byte(static_cast<char>(bits_ >> bit_count_ & 0xFF));
  }
}

void RawReader::byte(char c) {
  if (keeps_ == Keeps::kHead) {
    if (head_ended_ || mail_.size() >= most_) return;
    head_ended_ = c == '\n' && at_line_start_;
    if (c != '\r') at_line_start_ = c == '\n';
  } else if (mail_.size() >= most_) {
    too_large_ = broken_ = true;
    return;
  }
  // A string that grows is copied, and held twice meanwhile. What is reserved takes no memory before it is written.
  if (mail_.size() == kLargestGrown) mail_.reserve(most_);
  mail_ += c;
}

}  // namespace gmail
