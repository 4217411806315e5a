#include "read.hpp"

#include <kruxos/kit/page.hpp>
#include <kruxos/kit/time.hpp>

#include "body.hpp"
#include "message_text.hpp"
#include "model.hpp"
#include "search.hpp"

namespace gmail {
namespace {

std::string names_json(const std::vector<std::string>& ids, const LabelNames& labels) {
  ArrayWriter out;
  for (const auto& id : ids) out.text(labels.name(id));
  return out.done();
}

void write_message(const Message& m, const LabelNames& labels, ObjectWriter& out) {
  const auto from = shown(m.from);
  out.text("id", m.id).text("thread_id", m.thread_id).text("from", from).text("sender", from).text("to", shown(m.to));
  out.text("subject", m.subject).text("snippet", m.snippet).raw("labels", names_json(m.labels, labels));
  out.text("date", format_rfc3339(m.date_ms)).flag("is_read", m.is_read());
  out.flag("has_attachments", !m.attachments.empty());
  if (!m.cut.empty()) out.raw("cut", quoted_list(m.cut));
}

/// What a search does not show.
void write_rest(const Message& m, ObjectWriter& out) {
  out.text("cc", shown(m.cc)).text("bcc", shown(m.bcc)).text("reply_to", shown(m.reply_to));
  out.text("rfc822_message_id", m.message_id);
  out.integer("size", m.size);
}

/// An older host keeps nothing: the body is fetched with each read then.
void keep(const kruxos::Reader& reader, const std::string& id, const Body& body) {
  ObjectWriter head;
  write_head(body.head, head);
  try {
    reader.keep(kMessages, id, kHeadBlob, head.done(), "");  // first: a body is not kept without it
    reader.keep(kMessages, id, kBodyBlob, body.json, body.text);
  } catch (const kruxos::ProxyError& error) {
    if (error.kind() != kruxos::ErrorKind::kUnsupported) throw;
  }
}

}  // namespace

std::string MailReader::read(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view capability,
                             std::string_view params_json) const {
  const auto params = parse(params_json.empty() ? "{}" : params_json);
  if (params.HasParseError() || !params.IsObject()) throw invalid("The parameters are not one JSON object.");
  if (capability == "email.search") return search(call, reader, params);
  if (capability == "email.read") return read_message(call, reader, params);
  throw kruxos::ProxyError(kruxos::ErrorKind::kUnsupported,
                           "This adapter has no capability " + std::string(capability) + ".");
}

std::string MailReader::search(const kruxos::Call& call, const kruxos::Reader& reader, const Json& params) const {
  const LabelNames labels(reader);
  const auto query = search_query(params, labels, own_address_, call.now_ms());
  PageWriter page("messages");
  const auto result = reader.query(query, [&](const kruxos::Row& row) {
    const auto message = message_from_record(row.json);
    if (!message) return true;
    ObjectWriter writer;
    write_message(*message, labels, writer);
    return page.add(writer.done());
  });
  return page.done(result);
}

std::string MailReader::read_message(const kruxos::Call& call, const kruxos::Reader& reader, const Json& params) const {
  const std::string id(text_of(params, "message_id"));
  const auto json = id.empty() ? std::nullopt : reader.get(kMessages, id);
  auto message = json ? message_from_record(*json) : std::nullopt;
  if (!message) throw no_such_message(id);
  auto body = reader.blob(kMessages, id, kHeadBlob) ? reader.blob(kMessages, id, kBodyBlob) : std::nullopt;
  if (body) {
    take_kept_head(reader, id, *message);
  } else {
    const auto fetched = fetch_body(call, api_, id);
    keep(reader, id, fetched);
    static_cast<MailHead&>(*message) = fetched.head;
    body = fetched.json;
  }
  const LabelNames labels(reader);
  ObjectWriter whole;
  write_message(*message, labels, whole);
  write_rest(*message, whole);
  const auto fields = whole.done();
  return fields.substr(0, fields.size() - 1) + ",\"message\":" + fields + "," + *body + "}";
}

}  // namespace gmail
