#include "bench/mail_corpus.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string_view>
#include <utility>

namespace krux::bench {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;
constexpr std::int64_t kFirstId = 0x18a0000000000000, kApart = 7919;

std::string noise(std::int64_t seed, std::size_t size) {
  static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  std::string out;
  while (out.size() < size) out += letters[random() % letters.size()];
  return out;
}

/// What stands in a mail that came from one large provider to another.
Headers headers_of(const Mail& mail) {
  const auto date = fmt::format("{:%a, %d %b %Y %H:%M:%S +0000}", fmt::gmtime(mail.date_ms / 1000));
  const auto hop = [&](int n) {
    return fmt::format("by 2002:a05:6a10:8a90:b0:{:x}:1c7f:9a2b with SMTP id {}; {}", 0x4f5 + n,
                       noise(mail.number * 8 + n, 16), date);
  };
  Headers all = {{"Delivered-To", "agent@example.com"}, {"Received", hop(0)}, {"X-Received", hop(1)}};
  all.emplace_back("ARC-Seal", "i=1; a=rsa-sha256; t=1741050123; cv=none; d=example.net; s=arc-20240605; b=" +
                                   noise(mail.number * 8 + 2, 344));
  all.emplace_back("ARC-Message-Signature",
                   "i=1; a=rsa-sha256; c=relaxed/relaxed; d=example.net; s=arc-20240605; h=to:subject:message-id:date; "
                   "bh=" +
                       noise(mail.number * 8 + 3, 400));
  all.emplace_back("ARC-Authentication-Results",
                   "i=1; mx.example.net; dkim=pass header.i=@example.com header.s=selector; spf=pass; dmarc=pass");
  all.emplace_back("Return-Path", "<bounce@example.com>");
  for (int n = 4; n < 7; ++n) all.emplace_back("Received", hop(n));
  all.emplace_back("Received-SPF", "pass (example.net: domain of bounce@example.com designates it as permitted)");
  all.emplace_back("Authentication-Results", "mx.example.net; dkim=pass header.i=@example.com; spf=pass; dmarc=pass");
  all.emplace_back("DKIM-Signature",
                   "v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.com; s=selector; "
                   "h=from:to:subject:date:message-id; b=" +
                       noise(mail.number * 8 + 7, 344));
  all.insert(all.end(), {{"From", mail.from},
                         {"To", mail.to},
                         {"Subject", mail.subject},
                         {"Date", date},
                         {"Message-ID", "<" + mail.id + "@mail.example.com>"},
                         {"X-Mailer", "Mailer 12.4"},
                         {"X-Priority", "3"},
                         {"MIME-Version", "1.0"},
                         {"Content-Type", "text/plain; charset=utf-8"},
                         {"Content-Transfer-Encoding", "8bit"}});
  return all;
}

std::string take(std::string_view& text) {
  const auto end = std::min(text.find('\x1f'), text.size());
  std::string part(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string snippet_of(const std::string& body) {
  constexpr std::size_t kLongest = 200;
  auto end = std::min(body.size(), kLongest);
  while (end < body.size() && (static_cast<unsigned char>(body[end]) & 0xc0) == 0x80) --end;
  return body.substr(0, end);
}

}  // namespace

std::string mail_id(std::int64_t number) {
  return fmt::format("{:016x}", kFirstId + number * kApart);
}

std::int64_t mail_number(const std::string& id) {
  return (std::stoll(id, nullptr, 16) - kFirstId) / kApart;
}

Mail MailCorpus::next(std::int64_t number) {
  const auto record = corpus_.next(number);
  Mail mail;
  mail.number = number;
  mail.id = mail_id(number);
  mail.date_ms = record.order_ms;
  std::string_view text = record.text;
  for (auto* part : {&mail.from, &mail.to, &mail.subject, &mail.body}) *part = take(text);
  mail.labels = {"CATEGORY_PERSONAL", "INBOX"};
  if (number % 5 == 0) mail.labels.emplace_back("UNREAD");
  if (number % 3 == 0) mail.labels.push_back(fmt::format("Label_{}", number % 40));
  return mail;
}

std::string gmail_answer(const Mail& mail) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  const auto text = [&](const char* name, const std::string& value) {
    writer.Key(name);
    writer.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  };
  writer.StartObject();
  text("id", mail.id);
  text("threadId", mail_id(mail.number / 3 * 3));
  writer.Key("labelIds");
  writer.StartArray();
  for (const auto& label : mail.labels) writer.String(label.c_str());
  writer.EndArray();
  text("snippet", snippet_of(mail.body));
  writer.Key("payload");
  writer.StartObject();
  text("partId", "");
  text("mimeType", "text/plain");
  text("filename", "");
  writer.Key("headers");
  writer.StartArray();
  for (const auto& [name, value] : headers_of(mail)) {
    writer.StartObject();
    text("name", name);
    text("value", value);
    writer.EndObject();
  }
  writer.EndArray();
  writer.Key("body");
  writer.StartObject();
  writer.Key("size");
  writer.Int64(static_cast<std::int64_t>(mail.body.size()));
  writer.EndObject();
  writer.EndObject();
  writer.Key("sizeEstimate");
  writer.Int64(static_cast<std::int64_t>(3'000 + mail.body.size()));
  text("internalDate", std::to_string(mail.date_ms));
  writer.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

std::string mail_file(const Mail& mail) {
  std::string file;
  for (const auto& [name, value] : headers_of(mail)) file += fmt::format("{}: {}\n", name, value);
  return file + "\n" + mail.body + "\n";
}

}  // namespace krux::bench
