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

/// Blanks count once: mail programs and Gmail fold lines in their own ways.
std::string with_single_blanks(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

void require_shown(const ReplyHead& shown, const ReplyHead& real) {
  std::string what;
  if (shown.to != real.to) what += " It goes to " + real.to + ", and " + shown.to + " was shown.";
  if (shown.cc != real.cc) {
    const auto named = [](const std::string& list) { return list.empty() ? std::string("nobody") : list; };
    what += " Copies go to " + named(real.cc) + ", and " + named(shown.cc) + " was shown.";
  }
  if (with_single_blanks(shown.subject) != with_single_blanks(real.subject)) what += " Its subject is another.";
  if (what.empty()) return;
  throw refused(
      "By the mail itself, the reply goes out differently from what was shown when it was accepted, so nothing was "
      "sent." +
      what.substr(0, 600) + " Read the mail with email.read, which looks at the mail itself, and reply anew.");
}

}  // namespace

ReplyHead reply_head(const MailHead& original, bool all, std::string_view own_address) {
  MailContent content;
  static_cast<MailHead&>(content) = original;
  MessageDraft draft;
  reply_to(content, all, {std::string(own_address)}, draft);
  return head_of(draft);
}

std::string header_of(const Json& message, std::string_view name) {
  const auto* payload = member(message, "payload");
  const auto* headers = payload && payload->IsObject() ? member(*payload, "headers") : nullptr;
  if (!headers || !headers->IsArray()) return {};
  for (const auto& one : headers->GetArray()) {
    if (one.IsObject() && same_ascii(text_of(one, "name"), name)) return decode_header(text_of(one, "value"));
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
  const auto original = fetch_head(call_, api_, text_of(params, "message_id"));
  MessageDraft draft;
  draft.from = {"", std::string(own_)};
  reply_to(original.content, flag_of(params, "reply_all"), {std::string(own_)}, draft);
  if (const auto shown = shown_head(params)) require_shown(*shown, head_of(draft));
  draft.text = text_param(params, "body");
  return {nullptr, OutgoingMail(marked(std::move(draft))), original.thread_id};
}

Sending::Outgoing Sending::forwarded(const Json& params) const {
  RawReader reader(kLargestRawMail);
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
