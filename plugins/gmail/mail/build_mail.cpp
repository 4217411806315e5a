#include <algorithm>
#include <array>
#include <memory>

#include "draft.hpp"
#include "gmime.hpp"
#include "html_text.hpp"
#include "input.hpp"
#include "parts.hpp"
#include "recipients.hpp"
#include "sink_stream.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

constexpr const char* kUtf8 = "utf-8";

bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$&^_.+-";
  return !text.empty() && text.size() <= 100 && std::all_of(text.begin(), text.end(), [&](char c) {
    return g_ascii_isalnum(c) || kOthers.find(c) != std::string_view::npos;
  });
}

/// What Gmail keeps: it replaces ids that it finds invalid.
bool is_message_id(std::string_view id) {
  const auto at = id.find('@');
  return at != std::string_view::npos && at > 0 && at + 1 < id.size() && id.size() <= 250 &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '<' && c != '>'; });
}

bool is_base64(std::string_view text) {
  std::size_t count = 0, padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    ++count;
    if (c == '=') {
      ++padding;
    } else if (padding > 0 || !(g_ascii_isalnum(c) || c == '+' || c == '/')) {
      return false;
    }
  }
  return padding <= 2 && count % 4 == 0;
}

std::string with_newlines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      out += '\n';
    }
  }
  return out;
}

/// Bytes that GMime reads where they lie.
class View {
 public:
  explicit View(std::string_view bytes) : stream_(stream_over(bytes, owner_)) {}
  ~View() {
    stream_.reset();
    release(owner_);
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  GMimeStream* stream() const { return stream_.get(); }

 private:
  GByteArray* owner_ = nullptr;
  Held<GMimeStream> stream_;
};

class Builder {
 public:
  explicit Builder(const MessageDraft& draft) : draft_(draft) {}

  /// Lives no longer than the builder.
  GMimeMessage* build() {
    message_.reset(g_mime_message_new(TRUE));
    headers();
    auto body = bodies();
    if (!draft_.attachments.empty()) {
      auto mixed = multipart("mixed", 1);
      g_mime_multipart_add(GMIME_MULTIPART(mixed.get()), body.get());
      for (const auto& one : draft_.attachments) add_attachment(GMIME_MULTIPART(mixed.get()), one);
      body = std::move(mixed);
    }
    g_mime_message_set_mime_part(message_.get(), body.get());
    return message_.get();
  }

 private:
  void headers() {
    auto* const message = message_.get();
    if (!draft_.from.address.empty()) {
      g_mime_message_add_mailbox(message, GMIME_ADDRESS_TYPE_FROM, name_of(draft_.from), draft_.from.address.c_str());
    }
    addresses(GMIME_ADDRESS_TYPE_TO, draft_.to);
    addresses(GMIME_ADDRESS_TYPE_CC, draft_.cc);
    addresses(GMIME_ADDRESS_TYPE_BCC, draft_.bcc);
    g_mime_message_set_subject(message, draft_.subject.c_str(), kUtf8);
    if (auto* const date = g_date_time_new_from_unix_utc(draft_.date_ms / 1000)) {
      g_mime_message_set_date(message, date);
      g_date_time_unref(date);
    }
    g_mime_message_set_message_id(message, draft_.message_id.c_str());
    ids("In-Reply-To", draft_.in_reply_to);
    ids("References", draft_.references);
    for (const auto& [name, value] : draft_.extra_headers) {
      g_mime_object_set_header(GMIME_OBJECT(message), name.c_str(), value.c_str(), kUtf8);
    }
  }

  static const char* name_of(const MailAddress& address) {
    return address.name.empty() ? nullptr : address.name.c_str();
  }

  void addresses(GMimeAddressType type, const std::vector<MailAddress>& list) {
    for (const auto& one : list) g_mime_message_add_mailbox(message_.get(), type, name_of(one), one.address.c_str());
  }

  void ids(const char* header, const std::vector<std::string>& ids) {
    std::string value;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool wanted = i == 0 || i + kMostSentReferences > ids.size();
      if (wanted && is_message_id(ids[i])) value += (value.empty() ? "<" : " <") + ids[i] + ">";
    }
    if (!value.empty()) g_mime_object_set_header(GMIME_OBJECT(message_.get()), header, value.c_str(), kUtf8);
  }

  /// "=_" stands in no text that is encoded as ours are. The id keeps it apart from those of a mail that goes along.
  Held<GMimeObject> multipart(const char* kind, int level) const {
    auto* const made = g_mime_multipart_new_with_subtype(kind);
    const auto id = draft_.message_id.substr(0, std::min<std::size_t>(draft_.message_id.find('@'), 50));
    std::string boundary = "=_" + std::to_string(level) + "_";
    for (const char c : id) boundary += g_ascii_isalnum(c) ? c : '_';
    g_mime_multipart_set_boundary(made, boundary.c_str());
    return Held<GMimeObject>(GMIME_OBJECT(made));
  }

  Held<GMimeObject> bodies() {
    if (draft_.html.empty()) return text_part("plain", draft_.text);
    const auto plain = draft_.text.empty() ? html_to_text(draft_.html, kMostBodyBytes) : draft_.text;
    auto both = multipart("alternative", 2);
    g_mime_multipart_add(GMIME_MULTIPART(both.get()), text_part("plain", plain).get());
    g_mime_multipart_add(GMIME_MULTIPART(both.get()), text_part("html", draft_.html).get());
    return both;
  }

  Held<GMimeObject> text_part(const char* subtype, std::string_view text) {
    texts_.push_back(std::make_unique<std::string>(with_newlines(text)));
    const auto& lines = *texts_.back();
    const auto foreign =
        std::count_if(lines.begin(), lines.end(), [](char c) { return static_cast<signed char>(c) < 0; });
    // Where most characters would be written in hexadecimal, base64 is shorter.
    const bool dense = static_cast<std::size_t>(foreign) * 6 > lines.size();
    auto* const part = g_mime_part_new_with_type("text", subtype);
    Held<GMimeObject> held(GMIME_OBJECT(part));
    g_mime_object_set_content_type_parameter(held.get(), "charset", kUtf8);
    auto* stream = view(lines);
    Held<GMimeStream> canonical;
    if (dense) {
      canonical = filtered(stream, g_mime_filter_unix2dos_new(FALSE));
      stream = canonical.get();
    }
    set_content(part, stream, dense ? GMIME_CONTENT_ENCODING_BASE64 : GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE);
    return held;
  }

  static Held<GMimeStream> filtered(GMimeStream* source, GMimeFilter* filter) {
    const Held<GMimeFilter> held(filter);
    Held<GMimeStream> out(g_mime_stream_filter_new(source));
    g_mime_stream_filter_add(GMIME_STREAM_FILTER(out.get()), held.get());
    return out;
  }

  static void set_content(GMimePart* part, GMimeStream* stream, GMimeContentEncoding encoding) {
    const Held<GMimeDataWrapper> content(g_mime_data_wrapper_new_with_stream(stream, GMIME_CONTENT_ENCODING_DEFAULT));
    g_mime_part_set_content(part, content.get());
    g_mime_part_set_content_encoding(part, encoding);
  }

  GMimeStream* view(std::string_view bytes) {
    views_.push_back(std::make_unique<View>(bytes));
    return views_.back()->stream();
  }

  void add_attachment(GMimeMultipart* to, const DraftAttachment& one) {
    if (one.original) {
      auto* const source = one.part_id.empty() ? nullptr : find_part(one.original->parts(), one.part_id);
      if (one.part_id.empty()) return add_mail(to, one, one.original->parts().message.get());
      if (source && GMIME_IS_MESSAGE_PART(source)) {
        return add_mail(to, one, g_mime_message_part_get_message(GMIME_MESSAGE_PART(source)));
      }
      const auto stream = source && GMIME_IS_PART(source) ? decoded_stream(GMIME_PART(source)) : nullptr;
      const auto* const charset = source ? g_mime_object_get_content_type_parameter(source, "charset") : nullptr;
      return add_bytes(to, one, stream ? stream.get() : view(""), charset ? charset : "");
    }
    if (!one.is_base64) return add_bytes(to, one, view(one.content));
    const auto decoded = filtered(view(one.content), g_mime_filter_basic_new(GMIME_CONTENT_ENCODING_BASE64, FALSE));
    add_bytes(to, one, decoded.get());
  }

  void add_mail(GMimeMultipart* to, const DraftAttachment& one, GMimeMessage* mail) {
    if (!mail) return add_bytes(to, one, view(""));
    const Held<GMimeMessagePart> part(g_mime_message_part_new_with_message("rfc822", mail));
    describe(GMIME_OBJECT(part.get()), one);
    g_mime_multipart_add(to, GMIME_OBJECT(part.get()));
  }

  static void add_bytes(GMimeMultipart* to, const DraftAttachment& one, GMimeStream* stream,
                        const std::string& charset = {}) {
    const auto slash = one.mime_type.find('/');
    auto type = one.mime_type.substr(0, slash);
    auto subtype = slash == std::string::npos ? std::string() : one.mime_type.substr(slash + 1);
    // Bytes are no parts, and no mail that could be read as such.
    if (subtype.empty() || type == "multipart" || type == "message") {
      type = "application";
      subtype = "octet-stream";
    }
    auto* const part = g_mime_part_new_with_type(type.c_str(), subtype.c_str());
    const Held<GMimeObject> held(GMIME_OBJECT(part));
    if (is_token(charset)) g_mime_object_set_content_type_parameter(held.get(), "charset", charset.c_str());
    describe(held.get(), one);
    set_content(part, stream, GMIME_CONTENT_ENCODING_BASE64);
    g_mime_multipart_add(to, held.get());
  }

  static void describe(GMimeObject* part, const DraftAttachment& one) {
    g_mime_object_set_disposition(part, one.content_id.empty() ? "attachment" : "inline");
    if (!one.content_id.empty()) g_mime_object_set_content_id(part, one.content_id.c_str());
    if (one.filename.empty()) return;
    g_mime_object_set_content_disposition_parameter(part, "filename", one.filename.c_str());
    g_mime_object_set_content_type_parameter(part, "name", one.filename.c_str());
  }

  const MessageDraft& draft_;
  // Destroyed last to first: what refers to bytes before the bytes.
  std::vector<std::unique_ptr<std::string>> texts_;
  std::vector<std::unique_ptr<View>> views_;
  Held<GMimeMessage> message_;
};

void check(const DraftAttachment& one) {
  require_header_text("filename", one.filename, kMostFilenameBytes);
  require_header_text("content_id", one.content_id, kMostFilenameBytes);
  const auto slash = one.mime_type.find('/');
  const bool typed = slash != std::string::npos && is_token(one.mime_type.substr(0, slash)) &&
                     is_token(one.mime_type.substr(slash + 1));
  if (!one.mime_type.empty() && !typed) {
    throw bad_input("\"" + quotable(one.mime_type) + "\" is no MIME type; write one such as application/pdf.");
  }
  if (one.is_base64 && !is_base64(one.content)) {
    throw bad_input("The attachment \"" + quotable(one.filename) + "\" is not valid base64.");
  }
  const bool id_ok = std::all_of(one.content_id.begin(), one.content_id.end(),
                                 [](char c) { return c > ' ' && c < '\x7f' && c != '<' && c != '>'; });
  if (!id_ok) throw bad_input("\"" + quotable(one.content_id) + "\" is no content id.");
}

void check_addresses(const MessageDraft& draft) {
  const auto check_one = [](const MailAddress& one) {
    require_header_text("name", one.name, 1024);
    if (!is_address(one.address)) throw bad_input("\"" + quotable(one.address) + "\" is no mail address.");
  };
  for (const auto* list : {&draft.to, &draft.cc, &draft.bcc}) std::for_each(list->begin(), list->end(), check_one);
  if (!draft.from.address.empty()) check_one(draft.from);
}

void check(const MessageDraft& draft) {
  check_addresses(draft);
  require_header_text("subject", draft.subject, kMostSubjectBytes);
  if (!is_message_id(draft.message_id)) throw bad_input("The mail's own id is none.");
  for (const auto& [name, value] : draft.extra_headers) {
    require_header_text(name, value, 998);
    if (!is_token(name)) throw bad_input("\"" + quotable(name) + "\" is no name of a header field.");
  }
  for (const auto* text : {&draft.text, &draft.html}) {
    if (!is_utf8(*text) || text->find('\0') != std::string::npos) {
      throw bad_input("The mail's text is not valid UTF-8 without NUL.");
    }
    if (text->size() > kMostMessageBytes) throw bad_input("The mail is larger than 25 MB.");
  }
  if (draft.attachments.size() > kMostDraftAttachments) {
    throw bad_input("The mail has more than " + std::to_string(kMostDraftAttachments) + " attachments.");
  }
  for (const auto& one : draft.attachments) check(one);
  if (draft.subject.empty() && draft.text.empty() && draft.html.empty() && draft.attachments.empty()) {
    throw bad_input("The mail is empty: give it a subject, a body or an attachment.");
  }
}

}  // namespace

std::string message_id_for(std::string_view write_id, std::string_view account_address) {
  const auto at = account_address.rfind('@');
  std::string domain(at == std::string_view::npos ? "" : account_address.substr(at + 1));
  if (!is_address("a@" + domain)) domain = "gmail.com";
  std::string id;
  for (const char c : write_id) id += g_ascii_isalnum(c) || c == '_' || c == '-' ? c : '_';
  return id + ".kruxos@" + domain;
}

bool write_message(const MessageDraft& draft, const ByteSink& sink) {
  start_gmime();
  auto settled = draft;
  settle_recipients(settled.to, settled.cc, settled.bcc);
  check(settled);
  std::size_t total = 0;
  const ByteSink counted = [&](std::string_view piece) {
    total += piece.size();
    if (total > kMostMessageBytes) {
      throw bad_input("The mail is larger than 25 MB, attachments included as they are sent (a third larger).");
    }
    return sink(piece);
  };
  const SinkStream out(counted);
  Builder builder(settled);
  auto* const message = builder.build();
  auto* const options = g_mime_format_options_new();
  g_mime_format_options_set_newline_format(options, GMIME_NEWLINE_FORMAT_DOS);
  g_mime_object_write_to_stream(GMIME_OBJECT(message), options, out.get());
  g_mime_format_options_free(options);
  return out.finish();
}

}  // namespace gmail
