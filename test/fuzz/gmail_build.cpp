#include <kruxos/adapter/error.hpp>

#include <algorithm>
#include <array>

#include "fuzz.hpp"
#include "mail/recipients.hpp"
#include "test_support/mails.hpp"

namespace {

using krux::fuzz::require;

/// The input's fields are parted by a byte that no field holds: 0x1e.
std::array<std::string, 10> fields_of(const std::uint8_t* data, std::size_t size) {
  std::array<std::string, 10> fields;
  std::size_t field = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == 0x1e) {
      field = std::min(field + 1, fields.size() - 1);
    } else {
      fields[field] += static_cast<char>(data[i]);
    }
  }
  return fields;
}

gmail::MessageDraft draft_of(const std::array<std::string, 10>& fields) {
  gmail::MessageDraft draft;
  draft.to = gmail::parse_recipients("to", fields[0]);
  draft.cc = gmail::parse_recipients("cc", fields[1]);
  draft.subject = fields[2];
  draft.text = fields[3];
  draft.html = fields[4];
  draft.message_id = "w_1@example.com";
  draft.references = {fields[5], "m@example.com"};
  draft.extra_headers = {{"X-KruxOS-Write-Id", "w_1"}};
  if (!fields[6].empty()) {
    gmail::DraftAttachment one;
    one.filename = fields[6];
    one.mime_type = fields[7];
    one.content_id = fields[8];
    gmail::give(one, fields[9]);
    draft.attachments.push_back(one);
  }
  return draft;
}

bool same_addresses(const std::vector<gmail::MailAddress>& a, const std::vector<gmail::MailAddress>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.address == y.address; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto fields = fields_of(data, size);
  try {
    auto draft = draft_of(fields);
    gmail::OutgoingMail outgoing(draft);
    const auto said = outgoing.size();
    const auto raw = gmail::whole(std::move(outgoing));
    require(raw.size() == said, "it is as long as it says");
    const gmail::ParsedMail mail(raw);
    const auto& back = mail.content();
    gmail::settle_recipients(draft.to, draft.cc, draft.bcc);
    require(same_addresses(back.to, draft.to) && same_addresses(back.cc, draft.cc), "it goes to those that were named");
    require(back.bcc.empty() && back.reply_to.empty() && back.from.empty(), "it has no field that was not asked for");
    require(back.message_id == draft.message_id, "it has the id that it was given");
    require(mail.header("X-KruxOS-Write-Id") == "w_1", "it carries its mark");
    require(back.attachments.size() == draft.attachments.size(), "it has the attachments that it was given");
    const bool ascii = std::all_of(raw.begin(), raw.end(), [](char c) { return static_cast<signed char>(c) > 0; });
    require(ascii, "it is ASCII without NUL");
  } catch (const kruxos::ProxyError& error) {
    require(error.kind() == kruxos::ErrorKind::kInvalid, "a draft is refused as bad input");
  }
  return 0;
}
