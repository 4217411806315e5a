#include "body.hpp"

#include <kruxos/kit/time.hpp>
#include "mail/read_mail.hpp"
#include "mail/utf8.hpp"
#include "message_text.hpp"
#include "model.hpp"
#include "raw_reader.hpp"

namespace gmail {
namespace {

using kruxos::ErrorKind;

constexpr std::size_t kLargestHead = 2 << 20;  // what is read of a header
// Two texts, escaped, and what else stands in an answer stay below the 8 MiB that the host takes.
constexpr std::size_t kLongestText = 3 << 20;
constexpr std::size_t kMostAttachments = 500;
constexpr std::size_t kMostSearched = 256 << 10;

kruxos::ProxyError fetch_failed(const kruxos::ProxyError& error) {
  kruxos::ProxyError failed(error.kind() == ErrorKind::kRateLimited ? error.kind() : ErrorKind::kUnavailable,
                            std::string("The message's body could not be fetched: ") + error.what());
  failed.type("BodyFetchFailed").retry_after_ms(error.retry_after_ms());
  return failed;
}

/// As a JSON text; `is_cut` is set where it would be too long.
std::string bounded_json(std::string text, bool& is_cut) {
  auto json = quoted(text);
  while (json.size() > kLongestText) {
    is_cut = true;
    cut_text(text, text.size() / 2);
    json = quoted(text);
  }
  return json;
}

std::string attachments_json(const std::vector<MailAttachment>& attachments) {
  std::string out = "[";
  std::size_t count = 0;
  for (const auto& a : attachments) {
    if (++count > kMostAttachments) break;
    if (out.size() > 1) out += ',';
    out += ObjectWriter()
               .text("id", a.part_id)
               .text("filename", a.filename)
               .text("mime_type", a.mime_type)
               .integer("size", a.size)
               .done();
  }
  return out + "]";
}

/// As long as Gmail's snippets.
std::string one_line(std::string_view text) {
  constexpr std::size_t kLongestSnippet = 200;
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank) out += c;
    if (blank && !out.empty() && out.back() != ' ') out += ' ';
    if (out.size() > kLongestSnippet) break;
  }
  cut_text(out, kLongestSnippet);
  return out;
}

}  // namespace

kruxos::ProxyError no_such_message(const std::string& id) {
  return kruxos::ProxyError(ErrorKind::kNotFound,
                            "There is no message " + id +
                                " in the local copy of the mailbox. Ids are those that "
                                "searches give; it may also be newer than the last sync, or deleted.")
      .type("MessageNotFound")
      .no_effect();
}

Body body_of(std::string_view mail, const std::string& id, std::int64_t now_ms) {
  const ParsedMail parsed(mail);
  const auto& content = parsed.content();
  const MailHead& head = content;
  bool is_cut = false;
  ObjectWriter body;
  body.integer("form", kBodyForm).text("message_id", id).raw("text_plain", bounded_json(content.text_plain, is_cut));
  body.raw("text_html", bounded_json(content.text_html, is_cut)).text("cached_at", format_rfc3339(now_ms));
  bool is_hidden_cut = false;
  if (!content.hidden_text.empty()) body.raw("hidden_text", bounded_json(content.hidden_text, is_hidden_cut));
  if (is_cut) body.flag("is_cut", true);
  std::string problems = "[";
  for (const auto& problem : content.problems) problems += (problems.size() > 1 ? "," : "") + quoted(problem);
  if (problems.size() > 1 && problems.size() < 65'536) body.raw("problems", problems + "]");
  Body out{"\"body\":" + body.done() + ",\"attachments\":" + attachments_json(content.attachments), content.text_plain,
           content.hidden_text.empty() ? "" : one_line(content.text_plain), bounded(head)};
  cut_text(out.text, kMostSearched);
  return out;
}

FetchedHead fetch_head(const kruxos::Call& call, const ApiClient& api, std::string_view id) {
  RawReader reader(kLargestHead, RawReader::Keeps::kHead);
  api.stream(call, "messages.get",
             "gmail/v1/users/me/messages/" + encoded(id) + "?format=raw&fields=" + encoded("raw,threadId"),
             [&](std::string_view part) { reader.take(part); });
  if (!reader.is_whole()) throw malformed("messages.get");
  const auto head = reader.take_mail();
  FetchedHead fetched{ParsedMail(head).content(), reader.thread_id()};
  fetched.content.attachments.clear();
  return fetched;
}

std::string fetch_mail(const kruxos::Call& call, const ApiClient& api, const std::string& id) {
  RawReader reader(kLargestRawMail);
  try {
    api.stream(call, "messages.get", "gmail/v1/users/me/messages/" + encoded(id) + "?format=raw&fields=raw",
               [&](std::string_view part) { reader.take(part); });
    if (!reader.is_whole()) {
      if (reader.is_too_large())
        throw GmailError(ErrorKind::kUnavailable, "it is larger than any mail that Gmail takes.");
      throw malformed("messages.get");
    }
  } catch (const GmailError& error) {
    if (error.kind() == ErrorKind::kNotFound) throw no_such_message(id);
    if (error.kind() == ErrorKind::kAuth || error.kind() == ErrorKind::kCancelled) throw;
    throw fetch_failed(error);
  }
  return reader.take_mail();
}

Body fetch_body(const kruxos::Call& call, const ApiClient& api, const std::string& id) {
  const auto mail = fetch_mail(call, api, id);
  return body_of(mail, id, call.now_ms());
}

}  // namespace gmail
