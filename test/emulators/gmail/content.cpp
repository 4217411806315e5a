#include "emulators/gmail/content.hpp"

#include <algorithm>

#include "core/util/html.hpp"
#include "emulators/common/text.hpp"
#include "emulators/gmail/address.hpp"
#include "emulators/gmail/codec.hpp"

namespace krux::test::gmail {
namespace {

constexpr std::size_t kSnippetBytes = 200;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

std::string without_tags(const std::string& html) {
  std::string text;
  bool in_tag = false;
  for (std::size_t i = 0; i < html.size(); ++i) {
    if (!in_tag && (html.compare(i, 6, "<style") == 0 || html.compare(i, 7, "<script") == 0)) {
      const std::size_t end = html.find("</s", i);
      if (end == std::string::npos) break;
      i = end;
    }
    if (html[i] == '<') in_tag = true;
    if (!in_tag) text += html[i];
    if (html[i] == '>' && in_tag) in_tag = false, text += ' ';
  }
  const std::pair<const char*, const char*> entities[] = {{"&nbsp;", " "},  {"&lt;", "<"},  {"&gt;", ">"},
                                                          {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, meaning] : entities) {
    for (std::size_t at = text.find(entity); at != std::string::npos; at = text.find(entity, at + 1)) {
      text.replace(at, std::string(entity).size(), meaning);
    }
  }
  return text;
}

const Part* first_text(const Part& part, const std::string& type) {
  if (part.mime_type == type && part.filename.empty() && part.disposition != "attachment") return &part;
  if (part.mime_type == "message/rfc822") return nullptr;
  for (const Part& child : part.parts) {
    if (const Part* found = first_text(child, type)) return found;
  }
  return nullptr;
}

void collect_filenames(const Part& part, std::vector<std::string>& into) {
  if (!part.filename.empty()) into.push_back(part.filename);
  for (const Part& child : part.parts) collect_filenames(child, into);
}

// The "<…>" of a header.
std::vector<std::string> message_ids(const std::string& value) {
  std::vector<std::string> ids;
  for (std::size_t start = value.find('<'); start != std::string::npos; start = value.find('<', start + 1)) {
    const std::size_t end = value.find('>', start);
    if (end == std::string::npos) break;
    ids.push_back(value.substr(start, end - start + 1));
  }
  return ids;
}

std::string value_of(const Part& mail, std::string_view name) {
  const std::string* value = mail.header(name);
  return value ? *value : "";
}

// For people: each name decoded by itself, in quotes where it could be read as something else.
std::string people(const Part& mail, std::string_view name) {
  const std::string value = value_of(mail, name);
  std::vector<Address> addresses;
  if (!parse_addresses(with_plain_words(value), addresses)) return decode_words(value);
  std::string text;
  for (const Address& address : addresses) {
    std::string known = decode_words(address.name);
    if (address.name.rfind('"', 0) != 0 && known.find_first_of("()<>[]:;@\\,\"") != std::string::npos) {
      for (std::size_t at = 0; (at = known.find_first_of("\"\\", at)) != std::string::npos; at += 2) {
        known.insert(at, 1, '\\');
      }
      known = '"' + known + '"';
    }
    text += (text.empty() ? "" : ", ") + (known.empty() ? address.mail : known + " <" + address.mail + ">");
  }
  return text;
}

std::string header_of(const std::string& raw, std::string_view name) {
  for (const Header& header : parse_headers(raw)) {
    if (same_name(header.name, name)) return decode_words(header.value);
  }
  return "";
}

}  // namespace

std::shared_ptr<const std::string> Content::raw() const {
  return raw_ ? raw_ : std::make_shared<const std::string>(grow_raw(*growth_));
}

Digest Content::digest() const {
  return raw_ ? digest_of(parse_mail(*raw_)) : grow_digest(*growth_);
}

std::string Content::message_id() const {
  return raw_ ? header_of(*raw_, "Message-ID") : grown_message_id(growth_->seed);
}

std::string Content::subject() const {
  return raw_ ? header_of(*raw_, "Subject") : grow_digest(*growth_).subject;
}

std::vector<std::string> Content::references() const {
  if (growth_) {
    if (growth_->replies_to == 0) return {};
    return {grown_message_id(growth_->replies_to)};
  }
  std::vector<std::string> ids = message_ids(header_of(*raw_, "References"));
  for (const std::string& id : message_ids(header_of(*raw_, "In-Reply-To"))) ids.push_back(id);
  return ids;
}

Digest digest_of(const Part& mail) {
  Digest digest;
  digest.from = people(mail, "From");
  digest.to = people(mail, "To");
  digest.cc = people(mail, "Cc");
  digest.bcc = people(mail, "Bcc");
  digest.subject = decode_words(value_of(mail, "Subject"));
  digest.message_id = value_of(mail, "Message-ID");
  digest.text = shown_text(mail);
  digest.references = message_ids(value_of(mail, "References"));
  for (const std::string& id : message_ids(value_of(mail, "In-Reply-To"))) digest.references.push_back(id);
  collect_filenames(mail, digest.filenames);
  return digest;
}

std::string shown_text(const Part& mail) {
  if (const Part* plain = first_text(mail, "text/plain")) return to_utf8(plain->body, plain->charset);
  if (const Part* html = first_text(mail, "text/html")) return without_tags(to_utf8(html->body, html->charset));
  return "";
}

std::string make_snippet(const std::string& text) {
  std::string flat;
  for (const char c : text) {
    if (!is_space(c))
      flat += c;
    else if (!flat.empty() && flat.back() != ' ')
      flat += ' ';
    if (flat.size() > kSnippetBytes) break;
  }
  if (flat.size() > kSnippetBytes) {
    std::size_t end = kSnippetBytes;
    while (end > 0 && (static_cast<unsigned char>(flat[end]) & 0xc0) == 0x80) --end;
    flat.resize(end);
  }
  while (!flat.empty() && flat.back() == ' ') flat.pop_back();
  return escape_html(flat);
}

std::string bare_subject(std::string subject) {
  subject = emulator::lower(std::move(subject));
  bool again = true;
  while (again) {
    again = false;
    while (!subject.empty() && is_space(subject.front())) subject.erase(0, 1);
    for (const char* prefix : {"re:", "fwd:", "fw:", "aw:"}) {
      if (subject.rfind(prefix, 0) != 0) continue;
      subject.erase(0, std::string(prefix).size());
      again = true;
    }
  }
  while (!subject.empty() && is_space(subject.back())) subject.pop_back();
  return subject;
}

}  // namespace krux::test::gmail
