#include "answers.hpp"

#include <algorithm>
#include <kruxos/kit/time.hpp>

namespace gmail {
namespace {

// Of the definition's inputs, which the host has checked. A character may be a token: two texts share what an answer
// may have of them.
constexpr std::int64_t kMostChars = 16'000, kUsualChars = 8'000, kMostOfEach = 8'000, kFarthest = 1'000'000'000;
/// Enough to see what it is about: nobody is to read it all.
constexpr std::size_t kMostHidden = 1'000;

std::int64_t most_chars(const Json& params) {
  const auto most = flag_of(params, "include_html") ? kMostOfEach : kMostChars;
  return std::clamp<std::int64_t>(integer_of(params, "max_chars", kUsualChars), 1, most);
}

std::string names_json(const std::vector<std::string>& ids, const LabelNames& labels) {
  ArrayWriter out;
  for (const auto& id : ids) out.text(labels.name(id));
  return out.done();
}

void write_text(std::string_view name, std::string_view value, ObjectWriter& out) {
  if (!value.empty()) out.text(name, value);
}

void write_message(const Message& m, const LabelNames& labels, ObjectWriter& out) {
  out.text("id", m.id);
  write_text("thread_id", m.thread_id, out);
  write_text("from", shown(m.from), out);
  write_text("to", shown(m.to), out);
  write_text("subject", m.subject, out);
  if (!m.labels.empty()) out.raw("labels", names_json(m.labels, labels));
  out.text("date", format_rfc3339(m.date_ms)).flag("is_read", m.is_read());
  if (!m.cut.empty()) out.raw("cut", quoted_list(m.cut));
}

}  // namespace

void write_found(const Message& m, const LabelNames& labels, ObjectWriter& out) {
  write_message(m, labels, out);
  if (m.sender_check == kUnproven) out.text("sender_check", kUnproven);
  write_text("snippet", m.snippet, out);
  out.flag("has_attachments", !m.attachments.empty());
}

void write_opened(const Message& m, const LabelNames& labels, ObjectWriter& out) {
  write_message(m, labels, out);
  write_text("cc", shown(m.cc), out);
  write_text("bcc", shown(m.bcc), out);
  write_text("reply_to", shown(m.reply_to), out);
  write_text("sender_check", m.sender_check, out);
  write_text("rfc822_message_id", m.message_id, out);
  out.integer("size", m.size);
}

Window::Window(const Json& params)
    : most(static_cast<std::size_t>(most_chars(params))),
      offset(static_cast<std::size_t>(std::clamp<std::int64_t>(integer_of(params, "offset"), 0, kFarthest))) {}

std::string body_json(const Json& kept, const Window& window, bool with_html) {
  const auto plain = window.of(text_of(kept, "text_plain"));
  auto next = plain.next;
  ObjectWriter out;
  out.text("text_plain", plain.text).integer("total_chars", static_cast<std::int64_t>(plain.total));
  const auto html = with_html ? window.of(text_of(kept, "text_html")) : Excerpt();
  if (html.total > 0) {
    out.text("text_html", html.text).integer("html_total_chars", static_cast<std::int64_t>(html.total));
    if (html.next) next = html.next;
  }
  if (next) out.integer("next_offset", static_cast<std::int64_t>(*next));
  if (flag_of(kept, "is_cut")) out.flag("is_cut", true);
  if (const auto hidden = excerpt(text_of(kept, "hidden_text"), 0, kMostHidden); hidden.total > 0) {
    out.text("hidden_text", hidden.text).integer("hidden_total_chars", static_cast<std::int64_t>(hidden.total));
  }
  if (const auto* problems = array_of(kept, "problems")) out.raw("problems", json_text(*problems));
  write_text("cached_at", text_of(kept, "cached_at"), out);
  return out.done();
}

void write_attachment(const Json& kept, ObjectWriter& out) {
  write_text("filename", text_of(kept, "filename"), out);
  write_text("mime_type", text_of(kept, "mime_type"), out);
  out.integer("size", integer_of(kept, "size"));
}

std::string attachments_json(const Json& kept) {
  ArrayWriter out;
  const auto* list = objects_of(kept, "attachments");
  if (!list) return out.done();
  for (const auto& one : list->GetArray()) {
    ObjectWriter writer;
    writer.text("id", text_of(one, "id"));
    write_attachment(one, writer);
    out.raw(writer.done());
  }
  return out.done();
}

}  // namespace gmail
