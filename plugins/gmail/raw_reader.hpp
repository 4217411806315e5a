// The member "raw" of an answer, decoded from base64url while it arrives: a mail of 25 MB is held once, not as JSON,
// text and bytes side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gmail {

/// Bytes of a mail that is read whole: more than Gmail takes.
inline constexpr std::size_t kLargestRawMail = 64 << 20;

class RawReader {
 public:
  /// kHead: the mail's header alone, up to its first empty line.
  enum class Keeps { kAll, kHead };
  /// `most`: bytes of the mail; what is beyond makes it not whole. Of a header what is beyond is left out.
  explicit RawReader(std::size_t most, Keeps keeps = Keeps::kAll) : most_(most), keeps_(keeps) {}

  /// The answer's bytes, in any parts.
  void take(std::string_view part);

  /// The answer was one JSON object with a text "raw" of valid base64url, and has come to its end.
  bool is_whole() const { return state_ == State::kEnd && found_ && !broken_; }
  bool is_too_large() const { return too_large_; }
  std::string take_mail() { return std::move(mail_); }
  const std::string& thread_id() const { return thread_id_; }  ///< the answer's member of that name; may be empty

 private:
  enum class State { kStart, kOutside, kText, kEscape, kUnicode, kEnd };

  void outside(char c);
  void text(char c);
  void text_ended();
  void escaped(char c);
  void character(char c);
  void sextet(char c);
  void byte(char c);

  const std::size_t most_;
  const Keeps keeps_;
  State state_ = State::kStart;
  int depth_ = 0;
  bool is_key_ = false;     ///< the text that is read is a name of the outermost object
  bool is_raw_ = false;     ///< the value that comes, or is read, is the wanted one
  bool is_thread_ = false;  ///< it is the conversation's id
  bool wants_key_ = false;
  std::string key_;
  std::uint32_t unicode_ = 0;
  int unicode_digits_ = 0;

  std::string mail_, thread_id_;
  bool head_ended_ = false, at_line_start_ = true;
  std::uint32_t bits_ = 0;
  int bit_count_ = 0;
  bool padded_ = false, found_ = false, broken_ = false, too_large_ = false;
};

}  // namespace gmail
