#include "read_parts.hpp"

#include <algorithm>
#include <utility>

#include "charset.hpp"
#include "charset_labels.hpp"
#include "html_text.hpp"
#include "html_tokens.hpp"
#include "parts.hpp"
#include "sink_stream.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

constexpr std::size_t kMostProblems = 20;

/// Blanks that hold their place (U+00A0) say nothing either.
bool is_blank(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = text.starts_with("\xc2\xa0")                          ? 2
                             : is_html_blank(text.front()) || text.front() == '\v' ? 1
                                                                                   : 0;
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string_view disposition(GMimeObject* object) {
  const auto* const text = g_mime_object_get_disposition(object);
  return text ? text : "";
}

/// A text on lines of its own behind another; blank ones add nothing.
bool append(std::string& to, std::string_view text, std::size_t most = kMostBodyBytes) {
  if (!to.empty() && !text.empty() && to.back() != '\n') to += '\n';
  to += text;
  return cut_text(to, most);
}

/// What a part, with all within it, says.
struct Texts {
  std::string seen{}, hidden{};
  std::string html{};    ///< of its HTML parts
  std::string quoted{};  ///< as HTML, plain text too; empty where there is no HTML
  std::string other{};   ///< text of a kind that stands beside a mail's text, and is it where there is nothing else
};

class PartReader {
 public:
  explicit PartReader(MailContent& content) : content_(content) {}

  Texts read(GMimeObject* object, const std::string& id, int depth) {  // NOLINT(misc-no-recursion)
    if (!object) return {};
    if (++parts_ > kMostParts || depth > kDeepestPart) {
      add_problem(content_, "The mail has more parts than are read; some are missing here.");
      return {};
    }
    if (GMIME_IS_MULTIPART(object)) return multipart(GMIME_MULTIPART(object), id, depth);
    if (GMIME_IS_MESSAGE_PART(object)) attached_mail(GMIME_MESSAGE_PART(object), id);
    return GMIME_IS_PART(object) ? leaf(GMIME_PART(object), id) : Texts();
  }

 private:
  Texts multipart(GMimeMultipart* multipart, const std::string& id, int depth) {  // NOLINT(misc-no-recursion)
    const int count = g_mime_multipart_get_count(multipart);
    const bool is_choice = mime_type_of(GMIME_OBJECT(multipart)) == "multipart/alternative";
    Texts all;
    for (int i = 0; i < count && parts_ <= kMostParts; ++i) {
      auto name = std::to_string(i);
      if (!id.empty()) name.insert(0, 1, '.').insert(0, id);
      auto one = read(g_mime_multipart_get_part(multipart, i), name, depth + 1);
      if (is_choice) {
        choose(all, std::move(one));
      } else {
        join(all, std::move(one));
      }
    }
    // Where no part was found, what stands there is all that there is.
    const auto* const text = count == 0 ? g_mime_multipart_get_prologue(multipart) : nullptr;
    bool known = true;
    if (text && *text) all = plain(to_utf8(text, "", known));
    return all;
  }

  /// One after the other, each in the form that it has.
  void join(Texts& all, Texts one) {
    const bool has_html = !all.quoted.empty() || !one.quoted.empty();
    if (has_html && all.quoted.empty()) all.quoted = as_html(all.seen);
    if (has_html) note_cut(append(all.quoted, one.quoted.empty() ? as_html(one.seen) : one.quoted));
    if (!is_blank(one.seen)) note_cut(append(all.seen, one.seen));
    note_cut(append(all.html, one.html));
    append(all.hidden, one.hidden, kMostHiddenBytes);
    append(all.other, one.other);
  }

  /// Forms of one text. Plain text is read, as long as it says something; HTML is kept as well.
  void choose(Texts& all, Texts one) {
    const bool has_plain = !is_blank(all.seen) && all.html.empty();
    if (!is_blank(one.seen) && !has_plain && (is_blank(all.seen) || one.html.empty() || !all.html.empty())) {
      all.seen = std::move(one.seen);
    }
    if (!one.html.empty()) {
      all.html = std::move(one.html);
      all.quoted = std::move(one.quoted);
    }
    append(all.hidden, one.hidden, kMostHiddenBytes);
    append(all.other, one.other);
  }

  Texts plain(std::string_view text) {
    Texts out;
    auto apart = set_apart_invisible(text);
    out.seen = std::move(apart.seen);
    out.hidden = std::move(apart.hidden);
    note_cut(cut_text(out.seen, kMostBodyBytes));
    return out;
  }

  static Texts of_html(const std::string& html) {
    Texts out;
    auto apart = html_to_text(html, kMostBodyBytes);
    out.seen = std::move(apart.seen);
    out.hidden = std::move(apart.hidden);
    out.html = clean_text(html);
    out.quoted = out.html;
    return out;
  }

  Texts leaf(GMimePart* part, const std::string& id) {
    auto* const object = GMIME_OBJECT(part);
    const auto type = mime_type_of(object);
    const bool html = type == "text/html";
    const bool readable = html || type == "text/plain" || type == "text/markdown" || type == "text/enriched";
    const bool is_inline = g_ascii_strcasecmp(std::string(disposition(object)).c_str(), "inline") == 0;
    const bool is_attached = g_ascii_strcasecmp(std::string(disposition(object)).c_str(), "attachment") == 0;
    const bool named = !filename_of(object).empty();
    const bool is_body = readable && !is_attached && (!named || is_inline || id.empty());
    if (!is_body || named) attachment(part, type, id.empty() ? "0" : id);
    if (!is_body && (is_attached || named || !type.starts_with("text/"))) return {};
    const auto found = part_text(part);
    note_cut(found.is_cut);
    if (!found.is_charset_known)
      add_problem(content_, "A text is in a character set that is not known; some of it may be wrong.");
    if (html) return of_html(found.text);
    auto out = plain(found.text);
    if (!is_body) out.other = std::exchange(out.seen, "");
    return out;
  }

  void note_cut(bool is_cut) {
    if (!is_cut) return;
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

}  // namespace

std::string as_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '\n') {
      out += "<br>\n";
    } else {
      out += c;
    }
  }
  return out;
}

void read_parts(GMimeObject* mail, MailContent& content) {
  auto texts = PartReader(content).read(mail, "", 0);
  if (is_blank(texts.seen) && !is_blank(texts.other)) texts.seen = std::move(texts.other);
  content.text_plain = std::move(texts.seen);
  content.text_html = std::move(texts.html);
  content.quoted_html = std::move(texts.quoted);
  content.hidden_text = std::move(texts.hidden);
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
  const auto* const named = g_mime_object_get_content_type_parameter(GMIME_OBJECT(part), "charset");
  std::string charset = named ? named : "";
  if (charset.empty() && mime_type_of(GMIME_OBJECT(part)) == "text/html") charset = charset_in_html(bytes);
  out.text = to_utf8(bytes, charset, out.is_charset_known);
  out.is_cut = cut_text(out.text, kMostBodyBytes) || out.is_cut;
  return out;
}

void add_problem(MailContent& content, std::string_view problem) {
  auto& all = content.problems;
  if (problem.empty() || all.size() >= kMostProblems || std::find(all.begin(), all.end(), problem) != all.end()) return;
  all.emplace_back(problem);
}

}  // namespace gmail
