#include <kruxos/adapter/error.hpp>

#include "fuzz.hpp"
#include "mail/read_mail.hpp"
#include "mail/reply.hpp"
#include "mail/utf8.hpp"
#include "test_support/mails.hpp"

namespace {

using krux::fuzz::require;

/// A body's NULs are left to the boundary, which counts them.
void check_text(std::string_view text) {
  require(gmail::is_utf8(text), "texts are UTF-8");
}
void check_line(std::string_view text) {
  check_text(text);
  require(text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos,
          "headers are one line without NUL");
}

void check(const gmail::MailContent& content) {
  for (const auto* text : {&content.text_plain, &content.text_html, &content.quoted_html, &content.hidden_text}) {
    check_text(*text);
    require(text->size() <= gmail::kMostBodyBytes, "texts are bounded");
  }
  check_line(content.subject);
  check_line(content.message_id);
  for (const auto* list : {&content.from, &content.reply_to, &content.to, &content.cc, &content.bcc}) {
    for (const auto& one : *list) {
      check_line(one.name);
      check_line(one.address);
    }
  }
  for (const auto& id : content.references) check_line(id);
  for (const auto& problem : content.problems) check_line(problem);
}

void check_attachments(const gmail::ParsedMail& mail) {
  for (const auto& one : mail.content().attachments) {
    check_line(one.filename);
    check_line(one.mime_type);
    check_line(one.content_id);
    require(one.filename.find_first_of("/\\") == std::string::npos, "names of files lead nowhere");
    std::int64_t size = 0;
    const bool there = mail.write_part(one.part_id, [&](std::string_view piece) {
      size += static_cast<std::int64_t>(piece.size());
      return true;
    });
    require(there && size == one.size, "an attachment has the size that it says");
  }
}

void write(const gmail::MessageDraft& draft) {
  gmail::OutgoingMail outgoing(draft);
  const auto said = outgoing.size();
  require(gmail::whole(std::move(outgoing)).size() == said, "a mail is as long as it says");
}

/// Whatever a mail holds, what is made of it is a mail.
void pass_on(const gmail::ParsedMail& mail) {
  gmail::MessageDraft draft;
  gmail::forward(mail, "note", draft);
  draft.to = {{"", "a@example.com"}};
  draft.message_id = "w_1@example.com";
  write(draft);
  try {
    gmail::reply_to(mail.content(), true, {"me@example.com"}, draft);
    write(draft);
  } catch (const kruxos::ProxyError& error) {
    require(error.kind() == kruxos::ErrorKind::kInvalid, "a reply is refused as bad input");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string raw(data, data + size);
  const gmail::ParsedMail mail(raw);
  check(mail.content());
  check_attachments(mail);
  pass_on(mail);
  return 0;
}
