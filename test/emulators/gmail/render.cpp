#include "emulators/gmail/render.hpp"

#include <fmt/format.h>

#include "emulators/gmail/codec.hpp"

namespace krux::test::gmail {
namespace {

// Scrambles a handle's text, so that nobody reads a part's number out of it.
std::string scrambled(std::string text, std::uint64_t key) {
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(text[i] ^ static_cast<char>(mix(key + i)));
  return text;
}

void render_headers(const Part& part, const View& view, const std::vector<std::string>& wanted, JsonOut& out) {
  const auto is_wanted = [&](const Header& header) {
    return wanted.empty() || std::any_of(wanted.begin(), wanted.end(),
                                         [&](const std::string& name) { return same_name(name, header.name); });
  };
  bool any = false;
  for (const Header& header : part.headers) {
    if (!is_wanted(header)) continue;
    if (!any) out.array("headers");
    any = true;
    const std::string value = view.decodes_headers ? decode_words(header.value) : header.value;
    out.object().field("name", header.name).field("value", value).end_object();
  }
  if (any) out.end_array();
}

// The body's bytes as the API gives them: text in UTF-8, whatever it was sent in.
std::string shown_body(const Part& part) {
  return part.is_text() && part.filename.empty() ? to_utf8(part.body, part.charset) : part.body;
}

bool is_separate(const Part& part, const View& view) {
  if (part.body.empty()) return false;
  if (!part.filename.empty() || part.disposition == "attachment" || !part.is_text()) return true;
  return part.body.size() > static_cast<std::size_t>(view.inline_text_max);
}

void render_part(const Message& message, const Part& part, const View& view, JsonOut& out) {
  out.field("partId", part.id).field("mimeType", part.mime_type).field("filename", part.filename);
  render_headers(part, view, {}, out);
  out.object("body");
  if (is_separate(part, view)) {
    out.field("attachmentId", make_attachment_id(message.id, part.id, ++*view.handles)).field("size", part.body.size());
  } else {
    const std::string body = shown_body(part);
    out.field("size", body.size());
    if (!body.empty()) out.field("data", encode_base64url(body));
  }
  out.end_object();
  if (part.parts.empty()) return;
  out.array("parts");
  for (const Part& child : part.parts) {
    out.object();
    render_part(message, child, view, out);
    out.end_object();
  }
  out.end_array();
}

}  // namespace

void render_labels(const Labels& labels, JsonOut& out) {
  if (labels.empty()) return;
  out.array("labelIds");
  for (const std::string& label : labels) out.value(label);
  out.end_array();
}

void render_reference(const Message& message, JsonOut& out, bool with_labels) {
  out.field("id", format_id(message.id)).field("threadId", format_id(message.thread_id));
  if (with_labels) render_labels(message.labels, out);
}

void render_message(const Message& message, const View& view, JsonOut& out) {
  const auto raw = message.content.raw();
  const Part mail = parse_mail(*raw);
  render_reference(message, out, true);
  const std::string snippet = make_snippet(shown_text(mail));
  out.field("snippet", snippet);
  if (view.format == Format::metadata) {
    out.object("payload").field("mimeType", mail.mime_type);
    render_headers(mail, view, view.metadata_headers, out);
    out.end_object();
  } else if (view.format == Format::full) {
    out.object("payload");
    render_part(message, mail, view, out);
    out.end_object();
  }
  out.field("sizeEstimate", raw->size());
  if (view.format == Format::raw) out.field("raw", encode_base64url(*raw));
  out.field("historyId", std::to_string(message.history_id)).field("internalDate", std::to_string(message.date_ms));
}

void render_label(const Label& label, JsonOut& out) {
  out.field("id", label.id).field("name", label.name);
  if (!label.message_list_visibility.empty()) out.field("messageListVisibility", label.message_list_visibility);
  if (!label.label_list_visibility.empty()) out.field("labelListVisibility", label.label_list_visibility);
  out.field("type", label.is_system ? "system" : "user");
}

std::string make_attachment_id(Id message, const std::string& part, std::uint64_t number) {
  const std::string key = format_id(mix(number));
  const std::string text = fmt::format("{}/{}", format_id(message), part);
  std::string handle = "ANGjdJ" + encode_base64url(key + scrambled(text, mix(number)));
  while (handle.back() == '=') handle.pop_back();
  return handle;
}

std::optional<std::string> read_attachment_id(Id message, const std::string& handle) {
  if (handle.rfind("ANGjdJ", 0) != 0) return std::nullopt;
  const auto bytes = decode_base64url(handle.substr(6));
  if (!bytes || bytes->size() < 16) return std::nullopt;
  const auto key = parse_id(bytes->substr(0, 16));
  if (!key) return std::nullopt;
  const std::string text = scrambled(bytes->substr(16), *key), expected = format_id(message) + "/";
  if (text.rfind(expected, 0) != 0) return std::nullopt;
  return text.substr(expected.size());
}

const Part* find_part(const Part& mail, const std::string& id) {
  if (mail.id == id) return &mail;
  for (const Part& child : mail.parts) {
    if (const Part* found = find_part(child, id)) return found;
  }
  return nullptr;
}

}  // namespace krux::test::gmail
