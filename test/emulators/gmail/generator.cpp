#include <fmt/format.h>

#include "core/util/html.hpp"
#include "emulators/gmail/codec.hpp"
#include "emulators/gmail/content.hpp"

namespace krux::test::gmail {
namespace {

const char* const kNames[] = {"Ada Lindqvist", "Bruno Okafor", "Chiara Novak",  "Dmitri Hale", "Elif Sorensen",
                              "Farid Castell", "Greta Imai",   "Hugo Bergmann", "Ines Waters", "Jonas Mbeki",
                              "Kaya Petrov",   "Liam Ferrari", "Mina Dubois",   "Noah Kimura", "Olga Santos",
                              "Paulo Reyes",   "Quinn Adler",  "Rosa Eklund",   "Samir Vogel", "Tessa Moreau"};
const char* const kDomains[] = {"example.com", "mail.example.org", "shop.example.net", "lab.example.edu"};
const char* const kWords[] = {"budget",  "review",   "launch", "invoice", "meeting", "draft",  "contract",  "travel",
                              "release", "question", "update", "plan",    "garden",  "server", "holiday",   "workshop",
                              "summary", "delivery", "survey", "photos",  "lunch",   "ticket", "renewal",   "feedback",
                              "report",  "proposal", "agenda", "keys",    "parking", "survey", "migration", "archive"};

std::string person(std::uint64_t number) {
  const std::string name = kNames[number % std::size(kNames)];
  std::string local;
  for (const char c : name) local += c == ' ' ? '.' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return fmt::format("{} <{}@{}>", name, local, kDomains[number / std::size(kNames) % std::size(kDomains)]);
}

std::string words(std::uint64_t seed, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    seed = mix(seed);
    text += (i == 0 ? "" : " ") + std::string(kWords[seed % std::size(kWords)]);
  }
  return text;
}

struct Grown {
  std::string from, to, subject, text;
  bool html = false, attachment = false;
};

Grown grow(const Growth& growth) {
  const std::uint64_t topic = mix(growth.replies_to != 0 ? growth.replies_to : growth.seed);
  const std::uint64_t own = mix(growth.seed ^ 0x5bd1e995);
  Grown grown;
  grown.from = growth.sent ? *growth.owner : person(topic);
  grown.to = growth.sent ? person(topic) : *growth.owner;
  grown.subject = (growth.replies_to != 0 ? "Re: " : "") + words(topic, 2 + topic % 4);
  grown.text = fmt::format("Hello,\r\n\r\n{}.\r\n{}.\r\n\r\nNumber {}\r\n", words(own, 8 + own % 20),
                           words(own + 1, 5 + own % 9), growth.seed);
  grown.html = own % 5 == 0;
  grown.attachment = own % 11 == 0;
  return grown;
}

std::string body_of(const Grown& grown) {
  if (!grown.html) return "Content-Type: text/plain; charset=utf-8\r\n\r\n" + grown.text;
  return "Content-Type: multipart/alternative; boundary=\"alt\"\r\n\r\n--alt\r\nContent-Type: text/plain; "
         "charset=utf-8\r\n\r\n" +
         grown.text + "\r\n--alt\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>" + escape_html(grown.text) +
         "</p>\r\n--alt--\r\n";
}

}  // namespace

std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

std::string grown_message_id(std::uint64_t seed) {
  return fmt::format("<grown.{}@example.com>", seed);
}

std::string grow_raw(const Growth& growth) {
  const Grown grown = grow(growth);
  std::string raw =
      fmt::format("From: {}\r\nTo: {}\r\nSubject: {}\r\nDate: {}\r\nMessage-ID: {}\r\nMIME-Version: 1.0\r\n",
                  grown.from, grown.to, grown.subject, format_date(growth.date_ms), grown_message_id(growth.seed));
  if (growth.replies_to != 0) {
    const std::string id = grown_message_id(growth.replies_to);
    raw += fmt::format("In-Reply-To: {}\r\nReferences: {}\r\n", id, id);
  }
  if (!grown.attachment) return raw + body_of(grown);
  return raw + "Content-Type: multipart/mixed; boundary=\"mixed\"\r\n\r\n--mixed\r\n" + body_of(grown) +
         "\r\n--mixed\r\nContent-Type: text/csv; name=\"figures.csv\"\r\n"
         "Content-Disposition: attachment; filename=\"figures.csv\"\r\n\r\na,b\r\n1,2\r\n\r\n--mixed--\r\n";
}

Digest grow_digest(const Growth& growth) {
  const Grown grown = grow(growth);
  Digest digest;
  digest.from = grown.from;
  digest.to = grown.to;
  digest.subject = grown.subject;
  digest.text = grown.text;
  digest.message_id = grown_message_id(growth.seed);
  if (growth.replies_to != 0) digest.references.push_back(grown_message_id(growth.replies_to));
  if (grown.attachment) digest.filenames.emplace_back("figures.csv");
  return digest;
}

}  // namespace krux::test::gmail
