#include "model.hpp"

#include <algorithm>
#include <charconv>
#include <kruxos/kit/http.hpp>

#include "mail/invisible.hpp"
#include "mail/sender_check.hpp"
#include "mail/utf8.hpp"
#include "message_text.hpp"
#include "searched_text.hpp"

namespace gmail {
namespace {

using kruxos::FieldType;

constexpr std::size_t kMostNamesKept = 100, kMostLabels = 1000;
constexpr std::size_t kLongestId = 128;
constexpr int kDeepestParts = 8;
constexpr const char* kGmailServer = "mx.google.com";
constexpr std::int64_t kFarthestMs = 17'000'000'000'000;  // what the boundary takes as a time

/// Gmail writes 64-bit numbers as texts.
std::optional<std::int64_t> number_of(const Json& object, std::string_view name) {
  const auto text = text_of(object, name);
  std::int64_t value = 0;
  const auto* end = text.data() + text.size();
  if (text.empty() || std::from_chars(text.data(), end, value).ptr != end) return std::nullopt;
  return value;
}

void sort_labels(std::vector<std::string>& labels) {
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
}

std::string_view view(const Json& text) {
  return {text.GetString(), text.GetStringLength()};
}

/// Google leaves out what is empty.
bool is_readable_header(const Json& header) {
  return header.IsObject() && std::all_of(header.MemberBegin(), header.MemberEnd(), [](const auto& m) {
           return m.value.IsString() || (view(m.name) != "name" && view(m.name) != "value");
         });
}

bool is_readable_part(const Json& part, int depth) {
  if (!part.IsObject()) return false;
  if (depth > kDeepestParts) return true;  // it is not looked at
  const auto text = [&](const char* name) { return !member(part, name) || member(part, name)->IsString(); };
  const auto* body = member(part, "body");
  const auto* size = body && body->IsObject() ? member(*body, "size") : nullptr;
  const auto all = [&](const char* name, const auto& each) {
    const auto* list = member(part, name);
    return !list || (list->IsArray() && std::all_of(list->Begin(), list->End(), each));
  };
  return text("partId") && text("mimeType") && text("filename") && (!body || body->IsObject()) &&
         (!size || size->IsInt64()) && all("headers", is_readable_header) &&
         all("parts", [&](const Json& one) { return is_readable_part(one, depth + 1); });
}

/// The domain of the one whom From names, in small letters.
std::string sender_domain(const MailHead& head) {
  if (head.from.size() != 1) return {};
  const auto& address = head.from.front().address;
  const auto at = address.rfind('@');
  std::string domain = at == std::string::npos ? std::string() : address.substr(at + 1);
  for (char& c : domain) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return domain;
}

/// Gmail puts its own word on top, and takes what pretends to be its word out.
void check_sender(const Json& headers, Message& m) {
  for (const auto& header : headers.GetArray()) {
    if (!same_ascii(text_of(header, "name"), "authentication-results")) continue;
    const auto check = sender_check(text_of(header, "value"), kGmailServer, sender_domain(m));
    if (!check) continue;
    m.sender_check = check->results.empty() ? "" : check->proven ? kProven : kUnproven;
    return;
  }
}

void read_headers(const Json& payload, Message& m) {
  struct Wanted {
    std::string_view name;
    std::string Message::*to;
  };
  constexpr Wanted wanted[] = {{"message-id", &Message::message_id},
                               {"in-reply-to", &Message::in_reply_to},
                               {"references", &Message::references}};
  const auto* headers = array_of(payload, "headers");
  if (!headers) return;
  for (const auto& header : headers->GetArray()) {
    const auto name = text_of(header, "name"), value = text_of(header, "value");
    for (const auto& one : wanted) {
      if (same_ascii(name, one.name) && (m.*one.to).empty()) m.*one.to = header_text(value, kLongestHeader);
    }
    if (same_ascii(name, "subject") && m.subject.empty()) m.subject = decode_header(value);
    for (const auto& field : kAddressFields) {
      if (same_ascii(name, field.header) && (m.*field.list).empty()) read_address_field(field, value, m);
    }
  }
  MailHead& head = m;
  head = bounded(std::move(head));
  check_sender(*headers, m);
  if (m.message_id.starts_with('<') && m.message_id.ends_with('>'))
    m.message_id = m.message_id.substr(1, m.message_id.size() - 2);
}

void read_parts(const Json& part, Message& m, int depth) {
  if (depth > kDeepestParts || m.attachments.size() >= kMostNamesKept) return;
  const auto filename = text_of(part, "filename");
  if (!filename.empty()) {
    const auto* body = member(part, "body");
    m.attachments.push_back({std::string(text_of(part, "partId").substr(0, 64)), header_text(filename, kLongestName),
                             cut(std::string(text_of(part, "mimeType")), kLongestName),
                             body ? std::max<std::int64_t>(0, integer_of(*body, "size")) : 0});
  }
  const auto* parts = array_of(part, "parts");
  if (!parts) return;
  for (const auto& child : parts->GetArray()) read_parts(child, m, depth + 1);
}

std::string attachments_json(const std::vector<Attachment>& attachments) {
  ArrayWriter out;
  for (const auto& a : attachments) {
    out.raw(ObjectWriter()
                .text("id", a.part_id)
                .text("filename", a.filename)
                .text("mime_type", a.mime_type)
                .integer("size", a.size)
                .done());
  }
  return out.done();
}

bool is_user_label(std::string_view id) {
  return id.starts_with("Label_");
}

/// What bare words find.
std::string words_of(const Message& m) {
  return shown(m.from) + '\x1f' + shown(m.to) + '\x1f' + m.subject + '\x1f' + m.snippet;
}

void add_tags(const Message& m, kruxos::Record& record) {
  record.tags = m.labels;
  for (const auto* label : kTaggedAsLacking) {
    if (!m.has(label)) record.tag(lacking(label));
  }
  if (std::any_of(m.labels.begin(), m.labels.end(), [](const auto& id) { return is_user_label(id); }))
    record.tag(kHasUserLabel);
  if (!m.attachments.empty()) record.tag(kHasAttachment);
}

void add_named_texts(const Message& m, kruxos::Record& record) {
  for (const auto& [name, people] :
       {std::pair{kFromText, &m.from}, {kToText, &m.to}, {kCcText, &m.cc}, {kBccText, &m.bcc}}) {
    for (const auto& one : *people) record.named_text(name, person_text(one.name, one.address));
  }
  record.named_text(kSubjectText, m.subject);
  for (const auto& a : m.attachments) record.named_text(kFilenameText, a.filename);
}

}  // namespace

std::vector<kruxos::Collection> collections() {
  return {
      {kMessages,
       3,  // 3: labels are tags
       kruxos::Order::kTime,
       true,
       {{"message_id", FieldType::kText},
        {"thread_id", FieldType::kText},
        {"date", FieldType::kInteger},
        {"size", FieldType::kInteger}},
       {},
       true,
       {{kFromText, true}, {kToText, true}, {kSubjectText}, {kCcText, true}, {kBccText, true}, {kFilenameText}}},
      {kLabels, 1, kruxos::Order::kKey, false, {{"key", FieldType::kText}}},
  };
}

std::string message_url(std::string_view id) {
  // Parts within parts have no selector of their own that goes to any depth. A message with an attachment has seldom
  // more than three levels; what is below is not listed.
  static const std::string fields = [] {
    std::string parts;
    for (int depth = 0; depth < kDeepestParts; ++depth) {
      const std::string within = parts.empty() ? "" : ",parts(" + parts + ")";
      parts = "partId,mimeType,filename,body/size" + within;
    }
    return encoded("id,threadId,labelIds,snippet,internalDate,sizeEstimate,payload(headers," + parts + ")");
  }();
  return "gmail/v1/users/me/messages/" + encoded(id) + "?format=full&prettyPrint=false&fields=" + fields;
}

bool Message::has(std::string_view label) const {
  return std::binary_search(labels.begin(), labels.end(), label);
}

void Message::add(const std::string& label) {
  const auto at = std::lower_bound(labels.begin(), labels.end(), label);
  if ((at == labels.end() || *at != label) && labels.size() < kMostLabels) labels.insert(at, label);
}

void Message::remove(const std::string& label) {
  std::erase(labels, label);
}

/// What is not of the type that Gmail promises makes the whole message one that cannot be read: half of it would be
/// taken for what the mailbox has.
bool is_readable(const Json& json) {
  const auto fits = [&](const char* name, bool (Json::*is)() const) {
    const auto* value = member(json, name);
    return !value || (value->*is)();
  };
  return fits("threadId", &Json::IsString) && fits("snippet", &Json::IsString) &&
         fits("sizeEstimate", &Json::IsInt64) && has_texts(json, "labelIds") && fits("payload", &Json::IsObject) &&
         (!member(json, "payload") || is_readable_part(*member(json, "payload"), 0));
}

std::optional<Message> message_from_gmail(const Json& json) {
  Message m;
  if (!is_readable(json)) return std::nullopt;
  m.id = text_of(json, "id");
  const auto date = number_of(json, "internalDate");
  if (m.id.empty() || m.id.size() > kLongestId || !date) return std::nullopt;
  m.date_ms = std::clamp(*date, -kFarthestMs, kFarthestMs);
  m.thread_id = cut(std::string(text_of(json, "threadId")), kLongestId);
  m.snippet = cut(set_apart_invisible(without_entities(text_of(json, "snippet"))).seen, kLongestHeader);
  m.size = std::max<std::int64_t>(0, integer_of(json, "sizeEstimate"));
  m.labels = texts_of(json, "labelIds");
  if (m.labels.size() > kMostLabels) m.labels.resize(kMostLabels);
  sort_labels(m.labels);
  if (const auto* payload = member(json, "payload")) {
    read_headers(*payload, m);
    read_parts(*payload, m, 0);
  }
  return m;
}

std::optional<Message> message_from_record(std::string_view text) {
  const auto json = parse(text);
  if (json.HasParseError() || !json.IsObject()) return std::nullopt;
  Message m;
  for (const auto& [name, to] : {std::pair{"id", &Message::id},
                                 {"thread_id", &Message::thread_id},
                                 {"message_id", &Message::message_id},
                                 {"in_reply_to", &Message::in_reply_to},
                                 {"references", &Message::references},
                                 {"sender_check", &Message::sender_check},
                                 {"snippet", &Message::snippet}}) {
    m.*to = text_of(json, name);
  }
  read_head(json, m);
  m.date_ms = integer_of(json, "date_ms");
  m.size = integer_of(json, "size");
  m.labels = texts_of(json, "labels");
  if (const auto* list = array_of(json, "attachments")) {
    for (const auto& a : list->GetArray()) {
      m.attachments.push_back({std::string(text_of(a, "id")), std::string(text_of(a, "filename")),
                               std::string(text_of(a, "mime_type")), integer_of(a, "size")});
    }
  }
  if (m.id.empty()) return std::nullopt;
  return m;
}

kruxos::Record message_record(const Message& m) {
  ObjectWriter writer;
  writer.text("id", m.id).text("thread_id", m.thread_id);
  write_head(m, writer);
  writer.text("snippet", m.snippet).integer("date_ms", m.date_ms).integer("size", m.size);
  writer.raw("labels", quoted_list(m.labels));
  for (const auto& [name, text] : {std::pair{"message_id", &m.message_id},
                                   {"in_reply_to", &m.in_reply_to},
                                   {"references", &m.references},
                                   {"sender_check", &m.sender_check}}) {
    if (!text->empty()) writer.text(name, *text);
  }
  if (!m.attachments.empty()) writer.raw("attachments", attachments_json(m.attachments));

  kruxos::Record record;
  record.collection = kMessages;
  record.id = m.id;
  record.json = writer.done();
  record.text = words_of(m);
  add_tags(m, record);
  add_named_texts(m, record);
  record.order_ms = m.date_ms;
  record.fields = {{"date", m.date_ms}, {"size", m.size}};
  if (!m.message_id.empty()) record.fields.emplace_back("message_id", cut(m.message_id, 1000));
  if (!m.thread_id.empty()) record.fields.emplace_back("thread_id", m.thread_id);
  return record;
}

std::optional<Label> label_from_gmail(const Json& json) {
  Label label{std::string(text_of(json, "id")), cut(std::string(text_of(json, "name")), 1000),
              text_of(json, "type") == "system"};
  if (label.id.empty() || label.id.size() > kLongestId) return std::nullopt;
  if (label.name.empty()) label.name = label.id;
  return label;
}

std::optional<Label> label_from_record(std::string_view text) {
  const auto json = parse(text);
  if (json.HasParseError()) return std::nullopt;
  return Label{std::string(text_of(json, "id")), std::string(text_of(json, "name")), flag_of(json, "is_system")};
}

kruxos::Record label_record(const Label& label) {
  kruxos::Record record;
  record.collection = kLabels;
  record.id = label.id;
  record.json = ObjectWriter().text("id", label.id).text("name", label.name).flag("is_system", label.is_system).done();
  record.order_key = cut(label_key(label.name), 1000);
  record.fields = {{"key", label_key(label.name)}};
  return record;
}

std::string label_key(std::string_view name) {
  std::string key = folded(name);
  std::replace_if(
      key.begin(), key.end(), [](char c) { return c == ' ' || c == '/'; }, '-');
  return key;
}

bool has_texts(const Json& object, std::string_view name) {
  const auto* list = member(object, name);
  if (!list) return true;
  return list->IsArray() && std::all_of(list->Begin(), list->End(), [](const Json& item) { return item.IsString(); });
}

}  // namespace gmail
