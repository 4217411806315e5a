#include "message_head.hpp"

#include <algorithm>

#include "mail/utf8.hpp"
#include "message_text.hpp"
#include "model.hpp"

namespace gmail {
namespace {

std::string addresses_json(const std::vector<MailAddress>& list) {
  ArrayWriter out;
  for (const auto& one : list) {
    ObjectWriter writer;
    if (!one.name.empty()) writer.text("name", one.name);
    if (!one.address.empty()) writer.text("address", one.address);
    out.raw(writer.done());
  }
  return out.done();
}

/// Nothing of an address is cut: what does not fit is left out with all that follows it.
bool bound_list(std::vector<MailAddress>& list) {
  std::size_t size = 0, kept = 0;
  for (; kept < list.size(); ++kept) {
    cut_text(list[kept].name, kLongestName);
    size += shown(list[kept]).size() + 2;
    if (size > kLongestHeader) break;
  }
  const bool is_cut = kept < list.size();
  list.resize(kept);
  return is_cut;
}

}  // namespace

bool has_doubtful_sender(const Json& json) {
  const auto* payload = member(json, "payload");
  const auto* headers = payload ? array_of(*payload, "headers") : nullptr;
  if (!headers) return false;
  return std::any_of(headers->Begin(), headers->End(), [](const Json& header) {
    const auto name = text_of(header, "name");
    if (!same_ascii(name, "from") && !same_ascii(name, "reply-to")) return false;
    std::string value(text_of(header, "value"));
    const auto found = parse_addresses(value);
    if (found.size() > 1) return true;
    // Many programs put a sender's address in place of his name: that is the same whichever way it is read.
    const auto& address = found.empty() ? std::string() : found.front().address;
    for (auto at = value.find(address); !address.empty() && at != std::string::npos; at = value.find(address, at)) {
      value.erase(at, address.size());
    }
    return value.find('@') != std::string::npos;
  });
}

MailHead bounded(MailHead head) {
  cut_text(head.subject, kLongestHeader);
  for (const auto& field : kAddressFields) {
    if (bound_list(head.*field.list) && !head.leaves_out(field.name)) head.cut.emplace_back(field.name);
  }
  return head;
}

void write_head(const MailHead& head, ObjectWriter& out) {
  out.text("subject", head.subject);
  for (const auto& field : kAddressFields) {
    if (!(head.*field.list).empty()) out.raw(field.name, addresses_json(head.*field.list));
  }
  if (!head.cut.empty()) out.raw("cut", quoted_list(head.cut));
}

void read_head(const Json& json, MailHead& head) {
  head.subject = text_of(json, "subject");
  head.cut = texts_of(json, "cut");
  for (const auto& field : kAddressFields) {
    auto& list = head.*field.list;
    list.clear();
    const auto* all = member(json, field.name);
    if (all && all->IsString()) read_address_field(field, text_of(json, field.name), head);  // of an earlier version
    if (!all || !all->IsArray()) continue;
    for (const auto& one : all->GetArray()) {
      if (one.IsObject()) list.push_back({std::string(text_of(one, "name")), std::string(text_of(one, "address"))});
    }
  }
}

void take_kept_head(const kruxos::Reader& reader, const std::string& id, MailHead& head) {
  const auto kept = reader.blob(kMessages, id, kHeadBlob);
  if (!kept) return;
  if (const auto json = parse(*kept); !json.HasParseError() && json.IsObject()) read_head(json, head);
}

}  // namespace gmail
