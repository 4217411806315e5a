#include <fmt/format.h>

#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/seed.hpp"

namespace krux::test::gmail {
namespace {

std::string lines_of_base64(const std::string& bytes) {
  std::string text = encode_base64url(bytes), lines;
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  for (std::size_t at = 0; at < text.size(); at += 76) lines += text.substr(at, 76) + "\r\n";
  return lines;
}

std::string text_part(const char* type, const std::string& text) {
  return fmt::format("Content-Type: {}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n{}", type,
                     lines_of_base64(text));
}

std::string joined(const char* kind, const std::string& boundary, const std::vector<std::string>& parts) {
  std::string text = fmt::format("Content-Type: {}; boundary=\"{}\"\r\n\r\n", kind, boundary);
  for (const std::string& part : parts) text += fmt::format("--{}\r\n{}\r\n", boundary, part);
  return text + "--" + boundary + "--\r\n";
}

bool read_attachments(const rapidjson::Value& list, std::vector<std::string>& parts, std::string& problem) {
  if (!list.IsArray()) return problem = "attachments is a list", false;
  for (const auto& item : list.GetArray()) {
    const std::string name = text_or(item, "filename"), type = text_or(item, "type", "application/octet-stream");
    if (name.empty()) return problem = "an attachment has a filename", false;
    std::string bytes = text_or(item, "text");
    if (const std::int64_t size = number_or(item, "size")) bytes.assign(static_cast<std::size_t>(size), 'x');
    parts.push_back(
        fmt::format("Content-Type: {}; name=\"{}\"\r\nContent-Disposition: attachment; filename=\"{}\"\r\n"
                    "Content-Transfer-Encoding: base64\r\n\r\n{}",
                    type, name, name, lines_of_base64(bytes)));
  }
  return true;
}

/// What Gmail puts on top of what it takes in. Of nothing that the account has sent itself.
std::string authentication_results(const rapidjson::Value& document, const std::string& from, const Mailbox& mailbox) {
  const auto begin = from.rfind('<') + 1, end = std::min(from.find('>', begin), from.size());
  const auto address = from.substr(begin, end - begin), domain = address.substr(address.rfind('@') + 1);
  if (address == mailbox.address() || text_or(document, "authentication") == "none") return {};
  const bool fails = text_or(document, "authentication") == "fail";
  return fmt::format(
      "Authentication-Results: mx.google.com;\r\n       spf={0} (google.com: domain of {1} {2} 192.0.2.1 as permitted "
      "sender) smtp.mailfrom={1};\r\n       dmarc={0} (p=NONE sp=NONE dis=NONE) header.from={3}\r\n",
      fails ? "fail" : "pass", address, fails ? "does not designate" : "designates", domain);
}

bool compose(const rapidjson::Value& document, const Mailbox& mailbox, std::int64_t date_ms, std::string& raw,
             std::string& problem) {
  const std::string number = format_id(mix(static_cast<std::uint64_t>(date_ms) + mailbox.history_id()));
  const auto from = text_or(document, "from", "Pat Person <pat@example.org>");
  raw = authentication_results(document, from, mailbox) + "From: " + from + "\r\n";
  raw += "To: " + text_or(document, "to", mailbox.address()) + "\r\n";
  for (const auto& [key, name] : {std::pair("cc", "Cc"), std::pair("bcc", "Bcc")}) {
    if (!text_or(document, key).empty()) raw += fmt::format("{}: {}\r\n", name, text_or(document, key));
  }
  raw += fmt::format("Subject: {}\r\nDate: {}\r\n", text_or(document, "subject", "(no subject)"), format_date(date_ms));
  raw += "Message-ID: " + text_or(document, "message_id", "<" + number + "@example.org>") + "\r\nMIME-Version: 1.0\r\n";
  if (const rapidjson::Value* headers = find_member(document, "headers")) {
    if (!headers->IsObject()) return problem = "headers is an object of texts", false;
    for (const auto& header : headers->GetObject()) {
      if (!header.value.IsString()) return problem = "headers is an object of texts", false;
      raw += fmt::format("{}: {}\r\n", header.name.GetString(), header.value.GetString());
    }
  }
  std::string body = text_part("text/plain", text_or(document, "body"));
  const std::string html = text_or(document, "html");
  if (!html.empty()) body = joined("multipart/alternative", "alt_" + number, {body, text_part("text/html", html)});
  if (const rapidjson::Value* attachments = find_member(document, "attachments")) {
    std::vector<std::string> parts = {body};
    if (!read_attachments(*attachments, parts, problem)) return false;
    body = joined("multipart/mixed", "mixed_" + number, parts);
  }
  raw += body;
  return true;
}

}  // namespace

const std::vector<const char*>& message_keys() {
  static const std::vector<const char*> keys = {
      "from",       "to",      "cc",          "bcc",   "subject", "body",      "html",       "raw",
      "raw_base64", "headers", "attachments", "at_ms", "labels",  "thread_id", "message_id", "authentication"};
  return keys;
}

bool read_message(const rapidjson::Value& document, const Mailbox& mailbox, std::int64_t now_ms, NewMessage& into,
                  std::string& problem) {
  into.arrived_ms = number_or(document, "at_ms", now_ms);
  into.labels = {"UNREAD", "INBOX"};
  if (const rapidjson::Value* labels = find_member(document, "labels")) {
    if (!labels->IsArray()) return problem = "labels is a list of ids", false;
    into.labels.clear();
    for (const auto& label : labels->GetArray()) {
      const std::string id = label.IsString() ? label.GetString() : "";
      if (!mailbox.label(id)) return problem = "there is no label '" + id + "'", false;
      into.labels.push_back(id);
    }
  }
  const std::string thread = text_or(document, "thread_id");
  if (!thread.empty()) {
    into.thread = parse_id(thread);
    if (!into.thread || !mailbox.thread(*into.thread)) return problem = "there is no such thread", false;
  }
  std::string raw = text_or(document, "raw");
  if (find_member(document, "raw_base64")) raw = decode_base64(text_or(document, "raw_base64"));
  if (raw.empty() && !compose(document, mailbox, into.arrived_ms, raw, problem)) return false;
  into.content = Content(std::move(raw));
  return true;
}

}  // namespace krux::test::gmail
