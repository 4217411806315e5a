#include "check_draft.hpp"

#include <algorithm>

#include "gmime.hpp"
#include "input.hpp"
#include "recipients.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

void check(const DraftAttachment& one) {
  require_header_text("filename", one.filename, kMostFilenameBytes);
  if (one.filename.find("=?") != std::string::npos) {
    throw bad_input(
        "\"" + quotable(one.filename) +
        "\" cannot be the name of an attachment: programs take \"=?\" for the beginning of an encoded text.");
  }
  require_header_text("content_id", one.content_id, kMostFilenameBytes);
  const auto slash = one.mime_type.find('/');
  const bool typed = slash != std::string::npos && is_token(one.mime_type.substr(0, slash)) &&
                     is_token(one.mime_type.substr(slash + 1));
  if (!one.mime_type.empty() && !typed) {
    throw bad_input("\"" + quotable(one.mime_type) + "\" is no MIME type; write one such as application/pdf.");
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

}  // namespace

bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$&^_.+-";
  return !text.empty() && text.size() <= 100 && std::all_of(text.begin(), text.end(), [&](char c) {
    return g_ascii_isalnum(c) || kOthers.find(c) != std::string_view::npos;
  });
}

bool is_message_id(std::string_view id) {
  const auto at = id.find('@');
  return at != std::string_view::npos && at > 0 && at + 1 < id.size() && id.size() <= 250 &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '<' && c != '>'; });
}

void check_draft(const MessageDraft& draft) {
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

std::string message_id_for(std::string_view write_id, std::string_view account_address) {
  const auto at = account_address.rfind('@');
  std::string domain(at == std::string_view::npos ? "" : account_address.substr(at + 1));
  if (!is_address("a@" + domain)) domain = "gmail.com";
  std::string id;
  for (const char c : write_id) id += g_ascii_isalnum(c) || c == '_' || c == '-' ? c : '_';
  return id + ".kruxos@" + domain;
}

}  // namespace gmail
