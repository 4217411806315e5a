#include "composing.hpp"

#include <algorithm>
#include <optional>

#include "body.hpp"
#include "mail/input.hpp"
#include "mail/recipients.hpp"
#include "mail/reply.hpp"
#include "message_text.hpp"
#include "raw_reader.hpp"
#include "sending.hpp"
#include "write.hpp"

namespace gmail {
namespace {

constexpr std::size_t kLargestMail = 64 << 20;

std::string text_param(const Json& params, std::string_view name) {
  return std::string(text_of(params, name));
}

/// Named and typed, with their size, without their bytes. The host has checked what they are.
void add_attachments(const Json& params, MessageDraft& draft) {
  const auto* list = member(params, "attachments");
  if (!list || list->IsNull()) return;
  if (!list->IsArray()) throw bad_input("\"attachments\" is no list of uploads.");
  for (const auto& one : list->GetArray()) {
    const auto size = one.IsObject() ? integer_of(one, "size", -1) : -1;
    if (size < 0 || text_of(one, "upload_id").empty()) {
      throw bad_input("Each attachment is an upload: {upload_id, filename, mime_type, size}.");
    }
    DraftAttachment attachment;
    attachment.filename = text_of(one, "filename");
    attachment.mime_type = text_of(one, "mime_type");
    attachment.size = static_cast<std::uint64_t>(size);
    draft.attachments.push_back(std::move(attachment));
  }
}

MailContent content_of(const Json& message) {
  MailContent out;
  out.subject = header_of(message, "Subject");
  const auto addresses = [&](std::string_view name) { return parse_addresses(header_of(message, name)); };
  out.from = addresses("From");
  out.reply_to = addresses("Reply-To");
  out.to = addresses("To");
  out.cc = addresses("Cc");
  const auto ids = parse_message_ids(header_of(message, "Message-ID"));
  if (!ids.empty()) out.message_id = ids.front();
  out.in_reply_to = parse_message_ids(header_of(message, "In-Reply-To"));
  out.references = parse_message_ids(header_of(message, "References"));
  return out;
}

std::string addresses_of(const std::vector<MailAddress>& list) {
  std::string out;
  for (const auto& one : list) out += (out.empty() ? "" : ", ") + one.address;
  return out;
}

ReplyHead head_of(const MessageDraft& draft) {
  return {addresses_of(draft.to), addresses_of(draft.cc), draft.subject};
}

/// What was shown when the reply was accepted; nothing where the replica did not have the mail that it answers.
std::optional<ReplyHead> shown_head(const Json& params) {
  if (!member(params, "subject")) return std::nullopt;
  return ReplyHead{text_param(params, "to"), text_param(params, "cc"), text_param(params, "subject")};
}

}  // namespace

ReplyHead reply_head(const Message& original, bool all, std::string_view own_address) {
  MailContent content;
  content.subject = original.subject;
  content.from = parse_addresses(original.from);
  content.reply_to = parse_addresses(original.reply_to);
  content.to = parse_addresses(original.to);
  content.cc = parse_addresses(original.cc);
  MessageDraft draft;
  reply_to(content, all, {std::string(own_address)}, draft);
  return head_of(draft);
}

std::string header_of(const Json& message, std::string_view name) {
  const auto* payload = member(message, "payload");
  const auto* headers = payload && payload->IsObject() ? member(*payload, "headers") : nullptr;
  if (!headers || !headers->IsArray()) return {};
  for (const auto& one : headers->GetArray()) {
    if (one.IsObject() && same_header(text_of(one, "name"), name)) return decode_header(text_of(one, "value"));
  }
  return {};
}

MessageDraft composed(const Json& params, std::string_view own_address) {
  MessageDraft draft;
  const auto from = text_param(params, "from");
  const auto senders = from.empty() || from == "me" ? std::vector<MailAddress>{{"", std::string(own_address)}}
                                                    : parse_recipients("from", from);
  if (senders.size() != 1) throw bad_input("\"from\" is one address, or \"me\".");
  draft.from = senders.front();
  draft.to = parse_recipients("to", text_param(params, "to"));
  draft.cc = parse_recipients("cc", text_param(params, "cc"));
  draft.bcc = parse_recipients("bcc", text_param(params, "bcc"));
  draft.subject = text_param(params, "subject");
  draft.text = text_param(params, "body");
  draft.html = text_param(params, "body_html");
  add_attachments(params, draft);
  const bool no_subject = draft.subject.empty() || draft.subject == "(no subject)";
  if (no_subject && draft.text.empty() && draft.html.empty() && draft.attachments.empty()) {
    throw bad_input("The mail is empty: give it a subject, a body or an attachment.");
  }
  return draft;
}

MessageDraft Sending::marked(MessageDraft draft) const {
  draft.message_id = message_id();
  draft.date_ms = call_.now_ms();
  draft.extra_headers = {{kWriteIdHeader, std::string(write_.write_id)}};
  return draft;
}

Sending::Outgoing Sending::built(const Json& params) const {
  if (write_.operation == "email.reply") return reply(params);
  if (write_.operation == "email.forward") return forwarded(params);
  auto draft = composed(params, own_);
  for (std::size_t i = 0; i < draft.attachments.size(); ++i) {
    const auto& one = (*member(params, "attachments"))[static_cast<rapidjson::SizeType>(i)];
    draft.attachments[i].content = [this, id = std::string(text_of(one, "upload_id"))](
                                       std::uint64_t offset, char* buffer, std::size_t capacity) {
      return uploads_.read(call_, id, offset, buffer, capacity);
    };
  }
  return {nullptr, OutgoingMail(marked(std::move(draft))), text_param(params, "thread_id")};
}

Sending::Outgoing Sending::reply(const Json& params) const {
  std::string url = "gmail/v1/users/me/messages/" + encoded(text_of(params, "message_id")) + "?format=metadata";
  for (const auto* name : {"From", "Reply-To", "To", "Cc", "Subject", "Message-ID", "In-Reply-To", "References"}) {
    url += std::string("&metadataHeaders=") + name;
  }
  const auto original = api_.get(call_, "messages.get", url);
  MessageDraft draft;
  draft.from = {"", std::string(own_)};
  reply_to(content_of(original), flag_of(params, "reply_all"), {std::string(own_)}, draft);
  if (const auto shown = shown_head(params); shown && *shown != head_of(draft)) {
    throw refused(
        "The mail that this reply answers has other recipients or another subject than were shown when the reply was "
        "accepted: nothing was sent. Reply anew.");
  }
  draft.text = text_param(params, "body");
  return {nullptr, OutgoingMail(marked(std::move(draft))), text_param(original, "threadId")};
}

Sending::Outgoing Sending::forwarded(const Json& params) const {
  RawReader reader(kLargestMail);
  api_.stream(call_, "messages.get",
              "gmail/v1/users/me/messages/" + encoded(text_of(params, "message_id")) + "?format=raw&fields=raw",
              [&](std::string_view part) { reader.take(part); });
  if (!reader.is_whole()) throw malformed("messages.get");
  auto original = std::make_unique<Original>(reader.take_mail());
  MessageDraft draft;
  draft.from = {"", std::string(own_)};
  forward(original->mail, text_of(params, "body"), draft);
  draft.to = parse_recipients("to", text_param(params, "to"));
  OutgoingMail mail(marked(std::move(draft)));
  return {std::move(original), std::move(mail), ""};
}

}  // namespace gmail
