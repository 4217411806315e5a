#include "headers.hpp"

#include <algorithm>

#include "encoded_words.hpp"
#include "gmime.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

/// For C functions: without NUL, bounded, unfolded.
std::string one_line(std::string_view value) {
  std::string out;
  out.reserve(std::min(value.size(), kMostHeaderBytes));
  for (const char c : value.substr(0, kMostHeaderBytes)) {
    // Folding puts a line break before a blank.
    if (c == '\t') {
      out += ' ';
    } else if (c != '\0' && c != '\r' && c != '\n') {
      out += c;
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out.erase(0, out.find_first_not_of(' '));
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

// GMime decodes labels that begin so, and what it encodes again may be another address, or several. It looks for the
// small letters alone.
constexpr std::string_view kEncoded = "xn--", kLeftAlone = "xN--";

std::string address_of(InternetAddressMailbox* mailbox) {
  const auto* const text = internet_address_mailbox_get_addr(mailbox);
  std::string address(text ? text : "");
  const bool ascii =
      std::all_of(address.begin(), address.end(), [](char c) { return static_cast<signed char>(c) > 0; });
  if (!ascii) address = internet_address_mailbox_get_idn_addr(mailbox);
  replace_all(address, kLeftAlone, kEncoded);
  return clean_line(address);
}

void collect(InternetAddressList* list, bool within_group,
             std::vector<MailAddress>& out) {  // NOLINT(misc-no-recursion)
  const int count = internet_address_list_length(list);
  for (int i = 0; i < count && out.size() < kMostAddresses; ++i) {
    auto* const one = internet_address_list_get_address(list, i);
    if (INTERNET_ADDRESS_IS_GROUP(one)) {
      if (!within_group) collect(internet_address_group_get_members(INTERNET_ADDRESS_GROUP(one)), true, out);
      continue;
    }
    const auto* const name = internet_address_get_name(one);
    MailAddress found{clean_line(name ? name : ""), address_of(INTERNET_ADDRESS_MAILBOX(one))};
    replace_all(found.name, kLeftAlone, kEncoded);
    if (!found.address.empty() || !found.name.empty()) out.push_back(std::move(found));
  }
}

}  // namespace

std::string decode_header(std::string_view value) {
  start_gmime();
  return clean_line(decode_words(one_line(value)));
}

std::vector<MailAddress> parse_addresses(std::string_view value) {
  start_gmime();
  std::vector<MailAddress> out;
  auto text = normal_words(one_line(value));
  replace_all(text, kEncoded, kLeftAlone);
  const Held<InternetAddressList> list(internet_address_list_parse(nullptr, text.c_str()));
  if (list) collect(list.get(), false, out);
  return out;
}

std::optional<std::int64_t> parse_date(std::string_view value) {
  start_gmime();
  auto* const date = g_mime_utils_header_decode_date(one_line(value.substr(0, 200)).c_str());
  if (!date) return std::nullopt;
  const auto seconds = g_date_time_to_unix(date);
  g_date_time_unref(date);
  return seconds * 1000;
}

std::vector<std::string> parse_message_ids(std::string_view value) {
  start_gmime();
  std::vector<std::string> out;
  auto* const ids = g_mime_references_parse(nullptr, one_line(value).c_str());
  const int count = ids ? g_mime_references_length(ids) : 0;
  for (int i = 0; i < count; ++i) {
    const auto* const id = g_mime_references_get_message_id(ids, i);
    auto clean = clean_line(id ? id : "");
    if (!clean.empty() && clean.size() <= 998) out.push_back(std::move(clean));
  }
  if (ids) g_mime_references_free(ids);
  if (out.size() > kMostReferences) out.erase(out.begin() + 1, out.end() - (kMostReferences - 1));
  return out;
}

std::string shown(const MailAddress& address) {
  return address.name.empty() ? address.address : address.name + " <" + address.address + ">";
}

std::string shown(const std::vector<MailAddress>& addresses) {
  std::string out;
  for (const auto& one : addresses) out += (out.empty() ? "" : ", ") + shown(one);
  return out;
}

}  // namespace gmail
