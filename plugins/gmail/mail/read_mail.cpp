#include "read_mail.hpp"

#include <algorithm>

#include "charset.hpp"
#include "html_text.hpp"
#include "parts.hpp"
#include "readable.hpp"
#include "sink_stream.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

constexpr std::size_t kMostProblems = 20;

/// Nothing for what is common and harms nobody.
std::string_view sentence_of(GMimeParserWarning warning) {
  switch (warning) {
    case GMIME_WARN_MALFORMED_MULTIPART:
      return "A part that should hold others holds none.";
    case GMIME_WARN_TRUNCATED_MESSAGE:
      return "The mail ends before its parts do; it may have been cut.";
    case GMIME_WARN_MALFORMED_MESSAGE:
      return "The mail is malformed; its parts may be wrong.";
    case GMIME_WARN_INVALID_CONTENT_TYPE:
      return "A part's type cannot be read; it is taken for an attachment.";
    case GMIME_CRIT_INVALID_HEADER_NAME:
      return "A header field cannot be read; what follows it may be missing.";
    case GMIME_CRIT_CONFLICTING_HEADER:
      return "A header field stands there twice and says different things.";
    case GMIME_CRIT_CONFLICTING_PARAMETER:
      return "A parameter of a part stands there twice and says different things.";
    case GMIME_CRIT_MULTIPART_WITHOUT_BOUNDARY:
      return "A part that should hold others does not say where they begin.";
    case GMIME_CRIT_NESTING_OVERFLOW:
    case GMIME_CRIT_PART_WITHOUT_HEADERS_OR_CONTENT:
      return "The mail is built as nobody writes one; a part of it may be missing.";
    default:
      return {};
  }
}

void add_problem(MailContent& content, std::string_view problem) {
  auto& all = content.problems;
  if (problem.empty() || all.size() >= kMostProblems || std::find(all.begin(), all.end(), problem) != all.end()) return;
  all.emplace_back(problem);
}

void on_warning(gint64, GMimeParserWarning warning, const gchar*, gpointer content) noexcept {
  try {
    add_problem(*static_cast<MailContent*>(content), sentence_of(warning));
  } catch (...) {  // NOLINT(bugprone-empty-catch): a note less
  }
}

PartText part_text(GMimePart* part) {
  PartText out;
  const auto stream = decoded_stream(part);
  if (!stream) return out;
  std::string bytes;
  copy_stream(stream.get(), [&](std::string_view piece) {
    bytes.append(piece);
    return bytes.size() <= kMostBodyBytes;
  });
  // Between characters: half of one would make what is UTF-8 something else, where no charset is named.
  out.is_cut = cut_text(bytes, kMostBodyBytes);
  const auto* const charset = g_mime_object_get_content_type_parameter(GMIME_OBJECT(part), "charset");
  out.text = to_utf8(bytes, charset ? charset : "", out.is_charset_known);
  out.is_cut = cut_text(out.text, kMostBodyBytes) || out.is_cut;
  return out;
}

/// Reads what a mail consists of. Depth and number of parts are bounded.
class PartReader {
 public:
  PartReader(MailContent& content) : content_(content) {}  // NOLINT(google-explicit-constructor)

  void read(GMimeObject* object, const std::string& id, int depth) {  // NOLINT(misc-no-recursion)
    if (!object) return;
    if (++parts_ > kMostParts || depth > kDeepestPart) {
      add_problem(content_, "The mail has more parts than are read; some are missing here.");
    } else if (GMIME_IS_MULTIPART(object)) {
      multipart(GMIME_MULTIPART(object), id, depth);
    } else if (GMIME_IS_MESSAGE_PART(object)) {
      attached_mail(GMIME_MESSAGE_PART(object), id);
    } else if (GMIME_IS_PART(object)) {
      leaf(GMIME_PART(object), id);
    }
  }

 private:
  void multipart(GMimeMultipart* multipart, const std::string& id, int depth) {  // NOLINT(misc-no-recursion)
    const int count = g_mime_multipart_get_count(multipart);
    for (int i = 0; i < count; ++i) {
      auto name = std::to_string(i);
      if (!id.empty()) name.insert(0, 1, '.').insert(0, id);
      read(g_mime_multipart_get_part(multipart, i), name, depth + 1);
      if (parts_ > kMostParts) return;
    }
    // Where no part was found, what stands there is all that there is.
    const auto* const text = count == 0 ? g_mime_multipart_get_prologue(multipart) : nullptr;
    bool known = true;
    if (text && *text) append(content_.text_plain, to_utf8(text, "", known), known);
  }

  void leaf(GMimePart* part, const std::string& id) {
    auto* const object = GMIME_OBJECT(part);
    const auto type = mime_type_of(object);
    const bool plain = type == "text/plain", html = type == "text/html";
    if ((plain || html) && !is_attachment(object)) {
      body(part, html ? content_.text_html : content_.text_plain);
    } else {
      attachment(part, type, id.empty() ? "0" : id);
    }
  }

  static std::string_view disposition(GMimeObject* object) {
    const auto* const text = g_mime_object_get_disposition(object);
    return text ? text : "";
  }
  static bool is_attachment(GMimeObject* object) {
    return g_ascii_strcasecmp(std::string(disposition(object)).c_str(), "attachment") == 0 ||
           !filename_of(object).empty();
  }

  void body(GMimePart* part, std::string& to) {
    const auto found = part_text(part);
    if (found.is_cut) cut();
    append(to, found.text, found.is_charset_known);
  }

  void append(std::string& to, std::string_view text, bool is_charset_known) {
    if (!is_charset_known)
      add_problem(content_, "A text is in a character set that is not known; some of it may be wrong.");
    if (!to.empty() && !text.empty() && to.back() != '\n') to += '\n';
    to += text;
    if (cut_text(to, kMostBodyBytes)) cut();
  }

  void cut() {
    content_.is_cut = true;
    add_problem(content_, "A text is longer than what is read of it; its end is missing.");
  }

  void attachment(GMimePart* part, const std::string& type, const std::string& id) {
    auto* const object = GMIME_OBJECT(part);
    auto found = described(object, type, id);
    if (const auto stream = decoded_stream(part)) {
      copy_stream(stream.get(), [&](std::string_view piece) {
        found.size += static_cast<std::int64_t>(piece.size());
        return true;
      });
    }
    if (type == "application/ms-tnef") {
      add_problem(content_, "The mail holds Outlook's winmail.dat, whose contents are not read.");
    }
    content_.attachments.push_back(std::move(found));
  }

  void attached_mail(GMimeMessagePart* part, const std::string& id) {
    auto found = described(GMIME_OBJECT(part), "message/rfc822", id.empty() ? "0" : id);
    auto* const message = g_mime_message_part_get_message(part);
    if (!message) {
      add_problem(content_, "A mail that is attached cannot be read.");
    } else {
      const ByteSink count = [&](std::string_view piece) {
        found.size += static_cast<std::int64_t>(piece.size());
        return true;
      };
      const SinkStream out(count);
      g_mime_object_write_to_stream(GMIME_OBJECT(message), nullptr, out.get());
    }
    content_.attachments.push_back(std::move(found));
  }

  static MailAttachment described(GMimeObject* object, const std::string& type, const std::string& id) {
    const auto* const content_id = g_mime_object_get_content_id(object);
    MailAttachment out;
    out.part_id = id;
    out.filename = filename_of(object);
    out.mime_type = type;
    out.content_id = clean_line(content_id ? content_id : "");
    cut_text(out.content_id, kMostFilenameBytes);
    out.is_inline = g_ascii_strcasecmp(std::string(disposition(object)).c_str(), "inline") == 0;
    return out;
  }

  MailContent& content_;
  std::size_t parts_ = 0;
};

std::string raw_header(GMimeMessage* message, const char* name) {
  auto* const list = g_mime_object_get_header_list(GMIME_OBJECT(message));
  auto* const header = list ? g_mime_header_list_get_header(list, name) : nullptr;
  const auto* const value = header ? g_mime_header_get_raw_value(header) : nullptr;
  return value ? std::string(value, strnlen(value, kMostHeaderBytes + 1)) : std::string();
}

void read_headers(GMimeMessage* message, MailContent& content) {
  const auto value = [&](const char* name) {
    auto raw = raw_header(message, name);
    if (raw.size() > kMostHeaderBytes) add_problem(content, "A header field is longer than what is read of it.");
    return raw;
  };
  content.subject = decode_header(value("Subject"));
  for (const auto& field : kAddressFields) read_address_field(field, value(field.header), content);
  content.date_ms = parse_date(value("Date"));
  const auto ids = parse_message_ids(value("Message-ID"));
  content.message_id = ids.empty() ? std::string() : ids.front();
  content.in_reply_to = parse_message_ids(value("In-Reply-To"));
  content.references = parse_message_ids(value("References"));
}

/// Old Macintosh programs end lines with CR alone, which GMime takes for one long line.
bool ends_lines_with_cr(std::string_view raw) {
  const auto start = raw.substr(0, 64 * 1024);
  return start.find('\n') == std::string_view::npos && start.find('\r') != std::string_view::npos;
}

Held<GMimeMessage> parse(ParsedMail::Parts& parts, std::string_view raw) {
  if (ends_lines_with_cr(raw)) {
    parts.copy = raw;
    std::replace(parts.copy.begin(), parts.copy.end(), '\r', '\n');
    raw = parts.copy;
    add_problem(parts.content, "The mail ends its lines as no mail may; it was read as if they were in order.");
  }
  const auto readable = readable_bytes(raw);
  if (readable < raw.size()) {
    add_problem(parts.content, "The mail has more parts or header fields than are read; what follows them is missing.");
  }
  parts.stream = stream_over(raw.substr(0, readable), parts.bytes);
  const Held<GMimeParser> parser(g_mime_parser_new_with_stream(parts.stream.get()));
  g_mime_parser_set_format(parser.get(), GMIME_FORMAT_MESSAGE);
  auto* const options = g_mime_parser_options_new();
  g_mime_parser_options_set_warning_callback(options, on_warning, &parts.content);
  Held<GMimeMessage> message(g_mime_parser_construct_message(parser.get(), options));
  g_mime_parser_options_free(options);
  return message;
}

}  // namespace

ParsedMail::ParsedMail(std::string_view raw) : parts_(std::make_unique<Parts>()) {
  start_gmime();
  auto& content = parts_->content;
  parts_->message = parse(*parts_, raw);
  if (!parts_->message) {
    add_problem(content, "This is no mail: nothing of it could be read.");
    return;
  }
  read_headers(parts_->message.get(), content);
  PartReader(content).read(g_mime_message_get_mime_part(parts_->message.get()), "", 0);
  content.html_as_text = html_to_text(content.text_html, kMostBodyBytes);
}

ParsedMail::~ParsedMail() = default;
ParsedMail::ParsedMail(ParsedMail&&) noexcept = default;
ParsedMail& ParsedMail::operator=(ParsedMail&&) noexcept = default;

const MailContent& ParsedMail::content() const {
  return parts_->content;
}

std::optional<PartText> ParsedMail::text_of_part(std::string_view part_id) const {
  auto* const part = find_part(*parts_, part_id);
  if (!part || !GMIME_IS_PART(part)) return std::nullopt;
  return part_text(GMIME_PART(part));
}

std::string ParsedMail::header(std::string_view name) const {
  if (!parts_->message) return {};
  return decode_header(raw_header(parts_->message.get(), std::string(name).c_str()));
}

}  // namespace gmail
