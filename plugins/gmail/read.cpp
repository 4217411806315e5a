#include "read.hpp"

#include <kruxos/kit/page.hpp>

#include "answers.hpp"
#include "body.hpp"
#include "labels.hpp"
#include "search.hpp"

namespace gmail {
namespace {

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

/// A body as it was kept, with what the mail itself says of its head; null where there is none, or none that this
/// version has made.
rapidjson::Document kept_content(const kruxos::Reader& reader, const std::string& id) {
  const auto body = reader.blob(kMessages, id, kHeadBlob) ? reader.blob(kMessages, id, kBodyBlob) : std::nullopt;
  auto content = body ? parse("{" + *body + "}") : rapidjson::Document();
  if (content.HasParseError()) return {};
  const auto* kept = member(content, "body");
  const bool is_current = kept && kept->IsObject() && integer_of(*kept, "form") == kBodyForm;
  return is_current ? std::move(content) : rapidjson::Document();
}

}  // namespace

std::string MailReader::read(const kruxos::Call& call, const kruxos::Reader& reader, std::string_view capability,
                             std::string_view params_json) const {
  const auto params = parse(params_json.empty() ? "{}" : params_json);
  if (params.HasParseError() || !params.IsObject()) throw invalid("The parameters are not one JSON object.");
  if (capability == "email.search") return search(call, reader, params);
  if (capability == "email.read") return read_message(call, reader, params);
  if (capability == "email.labels") return list_labels(reader, params);
  if (capability == "email.attachment") return read_attachment(call, reader, params);
  throw kruxos::ProxyError(kruxos::ErrorKind::kUnsupported,
                           "This adapter has no capability " + std::string(capability) + ".");
}

std::string MailReader::search(const kruxos::Call& call, const kruxos::Reader& reader, const Json& params) const {
  const LabelNames labels(reader);
  const auto query = search_query(params, labels, own_address_, call.now_ms());
  PageWriter page("messages");
  const auto result = reader.query(query, [&](const kruxos::Row& row) {
    const auto message = message_from_record(row.json);
    if (!message) {
      page.skip();
      return true;
    }
    ObjectWriter writer;
    write_found(*message, labels, writer);
    return page.add(writer.done());
  });
  return page.done(result, &query);
}

MailReader::OpenMail MailReader::open_mail(const kruxos::Call& call, const kruxos::Reader& reader,
                                           const std::string& id, std::string* fetched) const {
  const auto json = id.empty() ? std::nullopt : reader.get(kMessages, id);
  auto message = json ? message_from_record(*json) : std::nullopt;
  if (!message) throw no_such_message(id);
  OpenMail mail{std::move(*message), kept_content(reader, id)};
  if (mail.content.IsObject()) {
    take_kept_head(reader, id, mail.message);
    return mail;
  }
  auto raw = fetch_mail(call, api_, id);
  const auto body = body_of(raw, id, call.now_ms());
  keep(reader, id, body);
  static_cast<MailHead&>(mail.message) = body.head;
  mail.content = parse("{" + body.json + "}");
  if (fetched) *fetched = std::move(raw);
  return mail;
}

std::string MailReader::read_message(const kruxos::Call& call, const kruxos::Reader& reader, const Json& params) const {
  const auto mail = open_mail(call, reader, std::string(text_of(params, "message_id")));
  ObjectWriter message;
  write_opened(mail.message, LabelNames(reader), message);
  const auto* body = member(mail.content, "body");
  const Json nothing;
  ObjectWriter out;
  out.raw("message", message.done());
  out.text("subject", mail.message.subject).text("sender", shown(mail.message.from));  // what programs look for first
  out.raw("body", body_json(body ? *body : nothing, Window(params), flag_of(params, "include_html")));
  return out.raw("attachments", attachments_json(mail.content)).done();
}

}  // namespace gmail
