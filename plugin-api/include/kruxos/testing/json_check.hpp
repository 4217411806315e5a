// kruxos/testing/json_check.hpp - the host's rules for JSON that crosses the boundary. Nothing in here is for authors
// to call.
#pragma once
#include <kruxos/testing/text.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kruxos::testing::detail {

/// Checks one JSON text, without recursion: no key twice in an object, no NUL in a string.
class JsonCheck {
 public:
  JsonCheck(std::string_view text, std::size_t max_depth) : text_(text), max_depth_(max_depth) {}

  /// Empty: it is one valid value, and an object where `only_object`.
  std::string problem(bool only_object) {
    if (!is_utf8(text_)) return "it is not valid UTF-8";
    skip();
    if (only_object && (at_ >= text_.size() || text_[at_] != '{')) return "it is not a JSON object";
    do {
      if (!step()) return problem_.empty() ? "it is not valid JSON at byte " + std::to_string(at_) : problem_;
      skip();
    } while (!open_.empty());
    return at_ == text_.size() ? "" : "something stands behind it at byte " + std::to_string(at_);
  }

 private:
  bool stop(std::string why) {
    problem_ = std::move(why);
    return false;
  }
  void skip() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool key() {
    if (!take('"') || !string()) return false;
    if (!keys_.back().insert(decoded_).second) return stop("the key \"" + decoded_ + "\" stands twice");
    return take(':');
  }
  void leave() {
    open_.pop_back();
    keys_.pop_back();
  }

  /// One value, and what stands behind it up to the next one.
  bool step() {
    skip();
    if (at_ >= text_.size()) return false;
    const char c = text_[at_];
    if (c == '{' || c == '[') {
      ++at_;
      open_ += c;
      keys_.emplace_back();
      if (open_.size() > max_depth_) return stop("it is nested deeper than " + std::to_string(max_depth_) + " levels");
      if (!take(c == '{' ? '}' : ']')) return c == '[' || key();
      leave();
      return close();
    }
    if (c == '"') {
      ++at_;
      return string() && close();
    }
    return (word("true") || word("false") || word("null") || number()) && close();
  }
  /// Behind a value: up to the next one, or out of what has ended.
  bool close() {
    while (!open_.empty()) {
      if (take(',')) return open_.back() == '[' || key();
      if (!take(open_.back() == '{' ? '}' : ']')) return false;
      leave();
    }
    return true;
  }
  bool word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool digits() {
    const auto from = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > from;
  }
  bool number() {
    if (is('-')) ++at_;
    if (is('0')) {
      ++at_;
    } else if (!digits()) {
      return false;
    }
    if (is('.') && (++at_, !digits())) return false;
    if (!is('e') && !is('E')) return true;
    ++at_;
    if (is('+') || is('-')) ++at_;
    return digits();
  }

  /// Behind the opening quote; what it says goes to decoded_.
  bool string() {
    decoded_.clear();
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return decoded_.find('\0') == std::string::npos || stop("it has a NUL character in a string");
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        decoded_ += c;
      } else if (!escape()) {
        return false;
      }
    }
    return false;
  }
  bool escape() {
    constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    if (const auto known = names.find(c); known != std::string_view::npos) {
      decoded_ += values[known];
      return true;
    }
    std::int32_t unit = 0, second = 0;
    if (c != 'u' || !hex(unit) || (unit >= 0xDC00 && unit <= 0xDFFF)) return false;
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      if (!word("\\u") || !hex(second) || second < 0xDC00 || second > 0xDFFF) return false;
      unit = 0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00);
    }
    append_utf8(decoded_, unit);
    return true;
  }
  bool hex(std::int32_t& value) {
    constexpr std::string_view figures = "0123456789abcdef0123456789ABCDEF";
    for (int i = 0; i < 4; ++i, ++at_) {
      const auto figure = at_ < text_.size() ? figures.find(text_[at_]) : std::string_view::npos;
      if (figure == std::string_view::npos) return false;
      value = value << 4 | static_cast<std::int32_t>(figure % 16);
    }
    return true;
  }

  std::string_view text_;
  std::size_t max_depth_, at_ = 0;
  std::string open_, decoded_, problem_;
  std::vector<std::set<std::string>> keys_;  ///< of each open object so far
};

/// Why the host would not take `text` as one JSON object; empty: it would.
inline std::string json_object_problem(std::string_view text, std::size_t max_bytes, std::size_t max_depth = 32) {
  if (text.size() > max_bytes)
    return "it has " + std::to_string(text.size()) + " bytes, at most " + std::to_string(max_bytes) + " are allowed";
  return JsonCheck(text, max_depth).problem(true);
}

}  // namespace kruxos::testing::detail
