#include "read.hpp"

#include "body.hpp"
#include "message_text.hpp"
#include "model.hpp"
#include "moment.hpp"
#include "search.hpp"

namespace gmail {
namespace {

// An answer ends early rather than to grow beyond what the host takes (8 MiB) or an agent can use.
constexpr std::size_t kLargestPage = 2 << 20;

std::string names_json(const std::vector<std::string>& ids, const LabelNames& labels) {
  std::string out = "[";
  for (const auto& id : ids) out += (out.size() > 1 ? "," : "") + quoted(labels.name(id));
  return out + "]";
}

void write_message(const Message& m, const LabelNames& labels, ObjectWriter& out) {
  out.text("id", m.id).text("thread_id", m.thread_id).text("from", m.from).text("sender", m.from).text("to", m.to);
  out.text("subject", m.subject).text("snippet", m.snippet).raw("labels", names_json(m.labels, labels));
  out.text("date", format_moment(m.date_ms)).flag("is_read", m.is_read());
  out.flag("has_attachments", !m.attachments.empty());
}

/// What a search does not show.
void write_rest(const Message& m, ObjectWriter& out) {
  out.text("cc", m.cc).text("bcc", m.bcc).text("reply_to", m.reply_to).text("rfc822_message_id", m.message_id);
  out.integer("size", m.size);
}

/// An older host keeps nothing: the body is fetched with each read then.
void keep(const kruxos::Reader& reader, const std::string& id, const Body& body) {
  try {
    reader.keep(kMessages, id, kBodyBlob, body.json, body.text);
  } catch (const kruxos::ProxyError& error) {
    if (error.kind() != kruxos::ErrorKind::kUnsupported) throw;
  }
}

std::string totals(const kruxos::QueryResult& result) {
  std::string out = ",\"total\":" + std::to_string(result.total);
  if (result.total_is_lower_bound) out += ",\"total_is_lower_bound\":true";
  if (result.incomplete) out += ",\"incomplete\":true";
  return out + "}";
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
  std::string out = "{\"messages\":[";
  const auto result = reader.query(query, [&](const kruxos::Row& row) {
    const auto message = message_from_record(row.json);
    if (!message) return true;
    if (out.back() != '[') out += ',';
    ObjectWriter writer;
    write_message(*message, labels, writer);
    out += writer.done();
    return out.size() < kLargestPage;
  });
  return out + (out.size() < kLargestPage ? "]" : "],\"page_is_cut\":true") + totals(result);
}

std::string MailReader::read_message(const kruxos::Call& call, const kruxos::Reader& reader, const Json& params) const {
  const std::string id(text_of(params, "message_id"));
  const auto json = id.empty() ? std::nullopt : reader.get(kMessages, id);
  const auto message = json ? message_from_record(*json) : std::nullopt;
  if (!message) throw no_such_message(id);
  auto body = reader.blob(kMessages, id, kBodyBlob);
  if (!body) {
    const auto fetched = fetch_body(call, api_, id);
    keep(reader, id, fetched);
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
