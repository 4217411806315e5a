#include "core/util/json_check.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/util/json.hpp"

namespace krux {
namespace {

constexpr std::size_t kDeepest = 64;        ///< containers that are open at a time
constexpr std::size_t kMostKeys = 128;      ///< of all objects that are open at a time
constexpr std::size_t kLongestNumber = 16;  ///< no such number is beyond a double

/// Of eight bytes the first, in the text's order, that a string cannot simply go on with: a control character, a
/// quotation mark, a backslash, and all that is no ASCII. 8: none.
std::size_t first_special(const char* at) {
  constexpr std::uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  const auto quote = bytes ^ (ones * '"'), backslash = bytes ^ (ones * '\\');
  // A borrow can only mark bytes behind one that is marked rightly.
  const auto marks =
      (bytes | ((bytes - ones * 0x20) & ~bytes) | ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash)) &
      highs;
  if constexpr (std::endian::native != std::endian::little) return 0;
  return marks == 0 ? 8 : static_cast<std::size_t>(std::countr_zero(marks)) / 8;
}

class Look {
 public:
  Look(std::string_view text, const JsonLimits& limits)
      : at_(text.data()), end_(text.data() + text.size()), limits_(limits) {}

  bool is_object() {
    skip_space();
    if (at_ == end_ || *at_ != '{' || !open()) return false;
    while (depth_ > 0) {
      if (!(in_object_[depth_ - 1] ? member() : entry())) return false;
    }
    skip_space();
    return at_ == end_;
  }

 private:
  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  /// Of the innermost object: its end, or one member as far as the beginning of a container that is its value.
  bool member() {
    skip_space();
    if (take('}')) return close();
    if (!first_ && !take(',')) return false;
    skip_space();
    if (!take('"')) return false;
    const auto* const key = at_;
    if (!string(false) || !add_key({key, static_cast<std::size_t>(at_ - 1 - key)})) return false;
    skip_space();
    return take(':') && value();
  }

  bool entry() {
    skip_space();
    if (take(']')) return close();
    return (first_ || take(',')) && value();
  }

  bool value() {
    skip_space();
    if (at_ == end_) return false;
    first_ = false;
    switch (*at_) {
      case '{':
      case '[':
        return open();
      case '"':
        ++at_;
        return string(true);
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  bool open() {
    if (depth_ == kDeepest || static_cast<int>(depth_) >= limits_.max_depth) return false;
    in_object_[depth_] = *at_++ == '{';
    first_key_[depth_++] = keys_;
    return first_ = true;
  }
  bool close() {
    keys_ = first_key_[--depth_];
    first_ = false;
    return true;
  }

  bool add_key(std::string_view key) {
    const auto first = first_key_[depth_ - 1];
    if (keys_ == kMostKeys || keys_ - first >= limits_.max_keys) return false;
    for (auto i = first; i < keys_; ++i) {
      if (key_[i] == key) return false;
    }
    key_[keys_++] = key;
    return true;
  }

  bool word(std::string_view word) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool digits() {
    const auto* const from = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return at_ != from;
  }
  bool number() {
    const auto* const from = at_;
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) return false;
    return at_ - from <= static_cast<std::ptrdiff_t>(kLongestNumber);
  }

  /// Behind its first quotation mark.
  bool string(bool may_escape) {
    for (;;) {
      while (end_ - at_ >= 8) {
        const auto plain = first_special(at_);
        at_ += plain;
        if (plain < 8) break;
      }
      if (at_ == end_) return false;
      const auto c = static_cast<unsigned char>(*at_);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c < 0x20) return false;
      if (c == '\\') {
        if (!may_escape || !escape()) return false;
      } else if (c >= 0x80) {
        if (!character()) return false;
      } else {
        ++at_;
      }
    }
  }

  bool escape() {
    if (end_ - at_ < 2) return false;
    if (at_[1] != 'u') {
      constexpr std::string_view simple = "\"\\/bfnrt";
      if (simple.find(at_[1]) == std::string_view::npos) return false;
      at_ += 2;
      return true;
    }
    if (end_ - at_ < 6) return false;
    unsigned unit = 0;
    for (int i = 2; i < 6; ++i) {
      const char c = at_[i];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return false;
      unit = unit << 4 | static_cast<unsigned>(digit);
    }
    at_ += 6;
    return unit != 0 && (unit & 0xf800) != 0xd800;
  }

  /// One of two to four bytes, in its shortest form, and no surrogate.
  bool character() {
    const auto byte = [this](std::ptrdiff_t i) {
      return i < end_ - at_ ? static_cast<unsigned char>(at_[i]) : static_cast<unsigned char>(0);
    };
    const unsigned first = byte(0), second = byte(1);
    const auto follows = [](unsigned c) { return (c & 0xc0) == 0x80; };
    int size = 0;
    if (first >= 0xc2 && first <= 0xdf) {
      size = 2;
    } else if (first >= 0xe0 && first <= 0xef) {
      if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0)) return false;
      size = 3;
    } else if (first >= 0xf0 && first <= 0xf4) {
      if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90)) return false;
      size = 4;
    }
    if (size == 0) return false;
    for (int i = 1; i < size; ++i) {
      if (!follows(byte(i))) return false;
    }
    at_ += size;
    return true;
  }

  const char* at_;
  const char* const end_;
  const JsonLimits& limits_;
  std::size_t depth_ = 0, keys_ = 0;
  bool first_ = true;  ///< nothing of the innermost container has come
  std::array<bool, kDeepest> in_object_{};
  std::array<std::size_t, kDeepest> first_key_{};  ///< of each container's keys, those of an array are none
  std::array<std::string_view, kMostKeys> key_;
};

}  // namespace

bool is_plain_json_object(std::string_view text, const JsonLimits& limits) {
  return text.size() <= limits.max_bytes && Look(text, limits).is_object();
}

}  // namespace krux
