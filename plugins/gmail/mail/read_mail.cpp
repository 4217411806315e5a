#include "read_mail.hpp"

#include <algorithm>

#include "invisible.hpp"
#include "mending.hpp"
#include "parts.hpp"
#include "read_parts.hpp"
#include "readable.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

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

void on_warning(gint64, GMimeParserWarning warning, const gchar*, gpointer content) noexcept {
  try {
    add_problem(*static_cast<MailContent*>(content), sentence_of(warning));
  } catch (...) {  // NOLINT(bugprone-empty-catch): a note less
  }
}

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
  if (auto mending = mended(raw); !mending.mail.empty()) {
    parts.copy = std::move(mending.mail);
    raw = parts.copy;
    if (mending.had_two_types) add_problem(parts.content, sentence_of(GMIME_CRIT_CONFLICTING_HEADER));
    if (mending.had_no_blank_line)
      add_problem(parts.content, "The mail's header ends without an empty line; its text was read from there on.");
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
  read_parts(g_mime_message_get_mime_part(parts_->message.get()), content);
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
  auto text = part_text(GMIME_PART(part));
  text.text = set_apart_invisible(text.text).seen;
  return text;
}

std::string ParsedMail::header(std::string_view name) const {
  if (!parts_->message) return {};
  return decode_header(raw_header(parts_->message.get(), std::string(name).c_str()));
}

}  // namespace gmail
