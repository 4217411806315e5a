#include "build_mail.hpp"

#include <algorithm>
#include <memory>

#include "check_draft.hpp"
#include "encoded_words.hpp"
#include "gap_stream.hpp"
#include "gmime.hpp"
#include "html_text.hpp"
#include "parts.hpp"
#include "sink_stream.hpp"

namespace gmail {
namespace {

constexpr const char* kUtf8 = "utf-8";

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
  Builder(const MessageDraft& draft, const OnAttachment& on_attachment)
      : draft_(draft), on_attachment_(on_attachment) {}

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
    if (!draft_.from.address.empty()) addresses(GMIME_ADDRESS_TYPE_FROM, {draft_.from});
    addresses(GMIME_ADDRESS_TYPE_TO, draft_.to);
    addresses(GMIME_ADDRESS_TYPE_CC, draft_.cc);
    addresses(GMIME_ADDRESS_TYPE_BCC, draft_.bcc);
    g_mime_message_set_subject(message, literal_words(draft_.subject).c_str(), kUtf8);
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

  void addresses(GMimeAddressType type, const std::vector<MailAddress>& list) {
    auto* const written = g_mime_message_get_addresses(message_.get(), type);
    for (const auto& one : list) internet_address_list_add(written, mailbox(one).get());
  }

  static Held<InternetAddress> mailbox(const MailAddress& one) {
    Held<InternetAddress> made(internet_address_mailbox_new(nullptr, one.address.c_str()));
    if (!one.name.empty()) internet_address_set_name(made.get(), literal_words(one.name).c_str());
    // GMime decodes "xn--…" when it takes an address, and what it encodes again may be another one.
    auto* const fields = INTERNET_ADDRESS_MAILBOX(made.get());
    g_free(fields->idn_addr);
    fields->idn_addr = g_strdup(one.address.c_str());
    return made;
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
    const auto plain = draft_.text.empty() ? html_to_text(draft_.html, kMostBodyBytes).seen : draft_.text;
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

  /// `is`: the encoding that the stream's bytes have already.
  static void set_content(GMimePart* part, GMimeStream* stream, GMimeContentEncoding encoding,
                          GMimeContentEncoding is = GMIME_CONTENT_ENCODING_DEFAULT) {
    const Held<GMimeDataWrapper> content(g_mime_data_wrapper_new_with_stream(stream, is));
    g_mime_part_set_content(part, content.get());
    g_mime_part_set_content_encoding(part, encoding);
  }

  GMimeStream* view(std::string_view bytes) {
    views_.push_back(std::make_unique<View>(bytes));
    return views_.back()->stream();
  }

  void add_attachment(GMimeMultipart* to, const DraftAttachment& one) {
    if (!one.original) return add_bytes(to, one, {one.size, one.content});
    auto* const source = one.part_id.empty() ? nullptr : find_part(one.original->parts(), one.part_id);
    if (one.part_id.empty()) return add_mail(to, one, one.original->parts().message.get());
    if (source && GMIME_IS_MESSAGE_PART(source)) {
      return add_mail(to, one, g_mime_message_part_get_message(GMIME_MESSAGE_PART(source)));
    }
    const auto* const charset = source ? g_mime_object_get_content_type_parameter(source, "charset") : nullptr;
    auto bytes = source && GMIME_IS_PART(source) ? decoded_bytes(GMIME_PART(source)) : EncodedBytes(0, {});
    add_bytes(to, one, std::move(bytes), charset ? charset : "");
  }

  static EncodedBytes decoded_bytes(GMimePart* part) {
    std::uint64_t size = 0;
    if (const auto counted = decoded_stream(part)) {
      copy_stream(counted.get(), [&](std::string_view piece) {
        size += piece.size();
        return true;
      });
    }
    // Read in order: the offset is where it stands.
    const std::shared_ptr<GMimeStream> stream = decoded_stream(part);
    return {size, [stream](std::uint64_t, char* buffer, std::size_t capacity) {
              ssize_t got = 0;
              while (stream && got == 0 && !g_mime_stream_eos(stream.get())) {
                got = g_mime_stream_read(stream.get(), buffer, capacity);
              }
              return static_cast<std::size_t>(std::max<ssize_t>(got, 0));
            }};
  }

  void add_mail(GMimeMultipart* to, const DraftAttachment& one, GMimeMessage* mail) {
    if (!mail) return add_bytes(to, one, {0, {}});
    const Held<GMimeMessagePart> part(g_mime_message_part_new_with_message("rfc822", mail));
    describe(GMIME_OBJECT(part.get()), one);
    g_mime_multipart_add(to, GMIME_OBJECT(part.get()));
  }

  void add_bytes(GMimeMultipart* to, const DraftAttachment& one, EncodedBytes bytes, const std::string& charset = {}) {
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
    set_content(part, gap(std::move(bytes)), GMIME_CONTENT_ENCODING_BASE64, GMIME_CONTENT_ENCODING_BASE64);
    g_mime_multipart_add(to, held.get());
  }

  /// Where the encoded bytes will stand.
  GMimeStream* gap(EncodedBytes bytes) {
    auto kept = std::make_shared<EncodedBytes>(std::move(bytes));
    gaps_.push_back(std::make_unique<GapStream>([this, kept] { on_attachment_(std::move(*kept)); }));
    return gaps_.back()->get();
  }

  static void describe(GMimeObject* part, const DraftAttachment& one) {
    // A text that is shown inline is read as part of the mail's own.
    const bool is_shown = !one.content_id.empty() && !one.mime_type.starts_with("text/");
    g_mime_object_set_disposition(part, is_shown ? "inline" : "attachment");
    if (!one.content_id.empty()) g_mime_object_set_content_id(part, one.content_id.c_str());
    if (one.filename.empty()) return;
    g_mime_object_set_content_disposition_parameter(part, "filename", one.filename.c_str());
    g_mime_object_set_content_type_parameter(part, "name", one.filename.c_str());
  }

  const MessageDraft& draft_;
  const OnAttachment& on_attachment_;
  // Destroyed last to first: what refers to bytes before the bytes.
  std::vector<std::unique_ptr<std::string>> texts_;
  std::vector<std::unique_ptr<View>> views_;
  std::vector<std::unique_ptr<GapStream>> gaps_;
  Held<GMimeMessage> message_;
};

}  // namespace

void build_mail(const MessageDraft& draft, const ByteSink& on_text, const OnAttachment& on_attachment) {
  start_gmime();
  const SinkStream out(on_text);
  Builder builder(draft, on_attachment);
  auto* const message = builder.build();
  auto* const options = g_mime_format_options_new();
  g_mime_format_options_set_newline_format(options, GMIME_NEWLINE_FORMAT_DOS);
  g_mime_object_write_to_stream(GMIME_OBJECT(message), options, out.get());
  g_mime_format_options_free(options);
  out.finish();
}

}  // namespace gmail
