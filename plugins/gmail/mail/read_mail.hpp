// Reading a mail as it was sent: any bytes give what can be read of them, and sentences about what cannot.
//
// A mail is parsed over the bytes it is given, which are not copied: parts are views of them, decoded piece by piece.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes.hpp"
#include "headers.hpp"

namespace gmail {

constexpr std::size_t kMostBodyBytes = 1024 * 1024;  ///< of each text of a mail; what is beyond is cut, and said
constexpr std::size_t kMostParts = 1000;             ///< of a mail; what is beyond is not read
constexpr std::size_t kMostFilenameBytes = 255;
constexpr int kDeepestPart = 32;  ///< parts within parts; what is deeper is not read

struct MailAttachment {
  std::string
      part_id{};  ///< "1", "0.2": the place among the parts, each level's counted from 0; a mail of one part: "0"
  std::string filename{};    ///< without path separators or control characters; empty where it has none
  std::string mime_type{};   ///< lower case
  std::string content_id{};  ///< by which the HTML shows it, without angle brackets; may be empty
  std::int64_t size = 0;     ///< decoded bytes
  bool is_inline = false;
};

/// All texts are valid UTF-8 without NUL, lines end with "\n".
struct MailContent : MailHead {
  std::optional<std::int64_t> date_ms{};  ///< Unix milliseconds, as the sender has it
  std::string message_id{};               ///< without angle brackets
  std::vector<std::string> in_reply_to{}, references{};
  /// The mail as text: of each part its plain text, or its HTML as text (html_text.hpp) where it has none that says
  /// something. Several parts one after the other.
  std::string text_plain{};
  std::string text_html{};    ///< its HTML parts
  std::string quoted_html{};  ///< the same as text_plain in HTML; empty where the mail has none
  std::string hidden_text{};  ///< what the mail holds and keeps from the eyes of a person
  bool is_cut = false;        ///< whether one of them is longer than what is read of it
  std::vector<MailAttachment> attachments{};
  /// What is wrong with the mail, or was cut, as sentences.
  std::vector<std::string> problems{};
};

/// What a part says: valid UTF-8, lines end with "\n".
struct PartText {
  std::string text{};
  bool is_cut = false;           ///< it is longer than kMostBodyBytes
  bool is_charset_known = true;  ///< else some of it may be wrong
};

class ParsedMail {
 public:
  /// `raw` must outlive it. Throws nothing for malformed bytes.
  explicit ParsedMail(std::string_view raw);
  ~ParsedMail();
  ParsedMail(ParsedMail&&) noexcept;
  ParsedMail& operator=(ParsedMail&&) noexcept;

  const MailContent& content() const;

  /// A field's value, decoded; empty where there is none. The first one where there are several.
  std::string header(std::string_view name) const;

  /// The decoded bytes of an attachment, piece by piece. False where there is no part of that id, or the sink said
  /// stop.
  bool write_part(std::string_view part_id, const ByteSink& sink) const;

  /// An attachment as text. Nothing where there is no part of that id that holds bytes of its own.
  std::optional<PartText> text_of_part(std::string_view part_id) const;

  struct Parts;
  const Parts& parts() const { return *parts_; }  ///< for those who build a mail out of it

 private:
  std::unique_ptr<Parts> parts_;
};

inline MailContent read_message(std::string_view raw) {
  return ParsedMail(raw).content();
}

}  // namespace gmail
