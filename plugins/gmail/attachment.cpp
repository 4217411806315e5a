// email.attachment. An attachment is named by its part's number: Gmail's own ids are others at each look, and would
// have to be asked for first. The mail is fetched as it was sent, like a body, and what is text is kept beside its
// record.
#include <algorithm>

#include "answers.hpp"
#include "body.hpp"
#include "mail/read_mail.hpp"
#include "read.hpp"

namespace gmail {
namespace {

constexpr std::size_t kLongestBlobName = 64, kMostNamed = 500;

/// Besides text/…: what is text by its definition.
bool is_text(std::string_view mime_type) {
  return mime_type.starts_with("text/") || mime_type == "application/json" || mime_type == "application/xml" ||
         mime_type.ends_with("+json") || mime_type.ends_with("+xml");
}

kruxos::ProxyError no_such_attachment(std::string_view part_id, const Json* list) {
  std::string known;
  if (list) {
    for (const auto& one : list->GetArray()) {
      if (known.size() > kMostNamed) break;
      const auto filename = text_of(one, "filename");
      known.append(known.empty() ? "" : ", ").append(text_of(one, "id"));
      if (!filename.empty()) known.append(" (").append(filename).append(")");
    }
  }
  return invalid("The message has no attachment \"" + std::string(part_id.substr(0, 100)) + "\"; " +
                 (known.empty() ? "it has none at all." : "it has: " + known + "."));
}

const Json& find_attachment(const Json& content, std::string_view part_id) {
  const auto* list = objects_of(content, "attachments");
  if (list) {
    const auto* const at =
        std::find_if(list->Begin(), list->End(), [&](const Json& one) { return text_of(one, "id") == part_id; });
    if (at != list->End()) return *at;
  }
  throw no_such_attachment(part_id, list);
}

std::string text_json(const PartText& part) {
  ObjectWriter out;
  out.text("text", part.text);
  if (part.is_cut) out.flag("is_cut", true);
  if (!part.is_charset_known)
    out.text("note", "The text is in a character set that is not known; some of it may be wrong.");
  return out.done();
}

}  // namespace

rapidjson::Document MailReader::attachment_text(const kruxos::Call& call, const kruxos::Reader& reader,
                                                const std::string& id, const std::string& part_id,
                                                std::string fetched) const {
  const auto name = "text " + part_id;
  const bool can_be_kept = name.size() <= kLongestBlobName;
  if (const auto kept = can_be_kept ? reader.blob(kMessages, id, name) : std::nullopt) {
    auto json = parse(*kept);
    if (!json.HasParseError()) return json;
  }
  if (fetched.empty()) fetched = fetch_mail(call, api_, id);
  const auto json = text_json(ParsedMail(fetched).text_of_part(part_id).value_or(PartText()));
  try {
    if (can_be_kept) reader.keep(kMessages, id, name, json, "");
  } catch (const kruxos::ProxyError& error) {  // an older host keeps nothing
    if (error.kind() != kruxos::ErrorKind::kUnsupported) throw;
  }
  return parse(json);
}

std::string MailReader::read_attachment(const kruxos::Call& call, const kruxos::Reader& reader,
                                        const Json& params) const {
  const std::string id(text_of(params, "message_id")), part_id(text_of(params, "attachment_id"));
  std::string fetched;
  const auto mail = open_mail(call, reader, id, &fetched);
  const auto& attachment = find_attachment(mail.content, part_id);
  ObjectWriter out;
  out.text("message_id", id).text("attachment_id", part_id);
  write_attachment(attachment, out);
  if (!is_text(text_of(attachment, "mime_type"))) {
    out.text("note", "This is no text, so its content is not given. To pass it on, forward the mail.");
    return out.done();
  }
  const auto kept = attachment_text(call, reader, id, part_id, std::move(fetched));
  const auto part = Window(params).of(text_of(kept, "text"));
  out.text("text", part.text).integer("total_chars", static_cast<std::int64_t>(part.total));
  if (part.next) out.integer("next_offset", static_cast<std::int64_t>(*part.next));
  if (flag_of(kept, "is_cut")) out.flag("is_cut", true);
  if (const auto note = text_of(kept, "note"); !note.empty()) out.text("note", note);
  return out.done();
}

}  // namespace gmail
