#include "emulators/gmail/outgoing.hpp"

#include <fmt/format.h>

#include "emulators/gmail/address.hpp"
#include "emulators/gmail/codec.hpp"

namespace krux::test::gmail {
namespace {

// The header block of a mail as lines that can be changed one by one; folded lines stay with their first.
struct Editable {
  std::vector<std::pair<std::string, std::string>> headers;  // name, the whole text with its line end
  std::string body;                                          // from the empty line on

  explicit Editable(const std::string& raw) {
    std::size_t at = 0;
    while (at < raw.size()) {
      const std::size_t end = std::min(raw.find('\n', at), raw.size() - 1) + 1;
      const std::string line = raw.substr(at, end - at);
      const std::size_t colon = line.find(':');
      if (line == "\n" || line == "\r\n") break;
      if ((line[0] == ' ' || line[0] == '\t') && !headers.empty())
        headers.back().second += line;
      else if (colon == std::string::npos || colon == 0)
        break;
      else
        headers.emplace_back(line.substr(0, colon), line);
      at = end;
    }
    body = raw.substr(at);
    if (body.empty() || (body[0] != '\n' && body[0] != '\r')) body.insert(0, "\r\n");
  }

  void set(const std::string& name, const std::string& value) {
    const std::string line = name + ": " + value + "\r\n";
    for (auto& [known, text] : headers) {
      if (!same_name(known, name)) continue;
      text = line;
      return;
    }
    headers.emplace_back(name, line);
  }
  void add_first(const std::string& name, const std::string& value) {
    headers.insert(headers.begin(), {name, name + ": " + value + "\r\n"});
  }
  void erase(const std::string& name) {
    headers.erase(std::remove_if(headers.begin(), headers.end(),
                                 [&](const auto& header) { return same_name(header.first, name); }),
                  headers.end());
  }
  std::string str() const {
    std::string raw;
    for (const auto& [name, text] : headers) {
      raw += text;
      if (text.back() != '\n') raw += "\r\n";
    }
    return raw + body;
  }
};

std::string first_value(const std::vector<Header>& headers, std::string_view name) {
  for (const Header& header : headers) {
    if (same_name(header.name, name)) return header.value;
  }
  return "";
}

// "<local@domain>" and nothing else.
bool is_message_id(const std::string& value) {
  const std::size_t at = value.find('@');
  return value.size() > 4 && value.front() == '<' && value.back() == '>' && at != std::string::npos && at > 1 &&
         at + 2 < value.size() && value.find('@', at + 1) == std::string::npos &&
         value.find_first_of(" \t<", 1) == std::string::npos;
}

MaybeFailure read_recipients(const std::vector<Header>& headers, std::vector<std::string>& into) {
  for (const char* name : {"To", "Cc", "Bcc"}) {
    for (const Header& header : headers) {
      if (!same_name(header.name, name)) continue;
      std::vector<Address> addresses;
      if (!parse_addresses(header.value, addresses)) return invalid_argument(fmt::format("Invalid {} header", name));
      for (const Address& address : addresses) into.push_back(lower(address.mail));
    }
  }
  return std::nullopt;
}

// The account's own address stays, with the name that it was given; any other gives way to it.
void set_sender(const MethodContext& context, const std::vector<Header>& headers, Editable& mail) {
  std::vector<Address> from;
  const std::string given = first_value(headers, "From");
  parse_addresses(given, from);
  if (from.size() == 1 && lower(from[0].mail) == lower(context.mailbox.address())) return;
  mail.set("From", context.mailbox.address());
}

void set_message_id(MethodContext const& context, const std::vector<Header>& headers, Editable& mail) {
  const std::string given = first_value(headers, "Message-ID");
  const std::string& rule = context.state.behaviour.message_id;
  if (is_message_id(given) && rule == "replace_invalid") return;
  const std::uint64_t number = mix(static_cast<std::uint64_t>(context.now_ms) ^ context.mailbox.history_id());
  mail.set("Message-ID", fmt::format("<CA{}@mail.gmail.com>", format_id(number)));
  if (!given.empty() && rule != "replace") mail.set("X-Google-Original-Message-ID", given);
}

std::string without_bcc(const std::string& raw) {
  Editable mail(raw);
  mail.erase("Bcc");
  return mail.str();
}

}  // namespace

std::shared_ptr<const std::string> read_mail(const MethodContext& context, const rapidjson::Value* resource,
                                             MaybeFailure& failure) {
  std::shared_ptr<const std::string> mail = context.call.media;
  const std::string encoded = resource ? text_or(*resource, "raw") : "";
  if (!mail && !encoded.empty()) {
    const auto bytes = decode_base64url(encoded);
    if (!bytes) {
      failure = invalid_argument(fmt::format("Invalid value at 'raw' (TYPE_BYTES), Base64 decoding failed for \"{}\"",
                                             encoded.substr(0, 100)));
      return nullptr;
    }
    mail = std::make_shared<const std::string>(*bytes);
  }
  if (!mail || mail->empty()) {
    failure = invalid_argument("'raw' RFC822 payload message string or uploading message via /upload/* URL required");
    return nullptr;
  }
  if (mail->size() > context.call.target->max_upload) {
    failure = invalid_argument(
        "Request payload size exceeds the limit: " + std::to_string(context.call.target->max_upload) + " bytes.");
    failure->code = 413;
    failure->reason = "uploadTooLarge";
    failure->status.clear();
    return nullptr;
  }
  return mail;
}

MaybeFailure read_thread(const MethodContext& context, const rapidjson::Value* resource, const std::string& raw,
                         std::optional<Id>& into) {
  const std::string wanted = resource ? text_or(*resource, "threadId") : "";
  if (wanted.empty()) return std::nullopt;
  const auto id = parse_id(wanted);
  if (!id) return invalid_argument("Invalid thread_id value");
  const std::vector<Id>* members = context.mailbox.thread(*id);
  if (!members) return not_found();
  const Content mail(raw);
  const std::vector<std::string> references = mail.references();
  for (const Id member : *members) {
    const Message& message = *context.mailbox.find(member);
    const std::string message_id = message.content.message_id();
    const bool named = std::find(references.begin(), references.end(), message_id) != references.end();
    if (named && bare_subject(message.content.subject()) == bare_subject(mail.subject())) into = *id;
  }
  return std::nullopt;
}

MaybeFailure prepare(const MethodContext& context, const std::string& raw, Outgoing& into) {
  const std::vector<Header> headers = parse_headers(raw);
  if (auto failure = read_recipients(headers, into.recipients)) return failure;
  if (into.recipients.empty()) return invalid_argument("Recipient address required");
  Editable mail(raw);
  set_sender(context, headers, mail);
  set_message_id(context, headers, mail);
  if (first_value(headers, "Date").empty()) mail.set("Date", format_date(context.now_ms));
  mail.add_first("Received", "from 100000000000 named unknown by gmailapi.google.com with HTTPREST; " +
                                 format_date(context.now_ms));
  into.raw = mail.str();
  return std::nullopt;
}

MaybeFailure check_recipients(const std::string& raw) {
  std::vector<std::string> recipients;
  return read_recipients(parse_headers(raw), recipients);
}

void deliver(State& state, const Mailbox& sender, const Outgoing& mail, std::int64_t now_ms) {
  for (const auto& [address, mailbox] : state.mailboxes()) {
    if (mailbox.get() == &sender) continue;
    if (std::find(mail.recipients.begin(), mail.recipients.end(), address) == mail.recipients.end()) continue;
    mailbox->add({Content(without_bcc(mail.raw)), now_ms, {}, {"UNREAD", "INBOX"}, {}});
  }
}

Labels labels_of_sent(const Mailbox& sender, const Outgoing& mail) {
  const bool to_self =
      std::find(mail.recipients.begin(), mail.recipients.end(), lower(sender.address())) != mail.recipients.end();
  return to_self ? Labels{"UNREAD", "SENT", "INBOX"} : Labels{"SENT"};
}

}  // namespace krux::test::gmail
