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

/// Where the last address before the end begins: behind a comma or semicolon that stands in no quotation, brackets or
/// comment.
std::size_t last_separator(std::string_view text) {
  std::size_t at = 0;
  bool quoted = false, angled = false;
  int comments = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && (quoted || comments > 0)) {
      ++i;
    } else if (c == '"' && comments == 0) {
      quoted = !quoted;
    } else if (!quoted && c == '(') {
      ++comments;
    } else if (!quoted && c == ')' && comments > 0) {
      --comments;
    } else if (!quoted && comments == 0) {
      if (c == '<' || c == '>') angled = c == '<';
      if (!angled && (c == ',' || c == ';')) at = i;
    }
  }
  return at;
}

/// The addresses that are whole within the bound, in normal words.
std::string whole_addresses(std::string_view value, bool& is_cut) {
  auto text = one_line(value);
  if (value.size() <= kMostHeaderBytes) return normal_words(text);
  is_cut = true;
  text.resize(std::min(text.size(), unfinished_word(text)));
  text = normal_words(text);
  text.resize(last_separator(text));
  return text;
}

/// Whether it would be read as something else than one name.
bool needs_quotes(std::string_view name) {
  return name.find_first_of("()<>[]:;@\\,\"") != std::string_view::npos;
}

std::string shown_name(const std::string& name) {
  if (!needs_quotes(name)) return name;
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

void collect(InternetAddressList* list, bool within_group,
             std::vector<MailAddress>& out) {  // NOLINT(misc-no-recursion)
  const int count = internet_address_list_length(list);
  for (int i = 0; i < count && out.size() <= kMostAddresses; ++i) {
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

std::vector<MailAddress> parse_addresses(std::string_view value, bool* is_cut) {
  start_gmime();
  std::vector<MailAddress> out;
  bool cut = false;
  auto text = whole_addresses(value, cut);
  replace_all(text, kEncoded, kLeftAlone);
  const Held<InternetAddressList> list(internet_address_list_parse(nullptr, text.c_str()));
  if (list) collect(list.get(), false, out);
  if (out.size() > kMostAddresses) {
    out.resize(kMostAddresses);
    cut = true;
  }
  if (is_cut) *is_cut = cut;
  return out;
}

bool MailHead::leaves_out(std::string_view field) const {
  return std::find(cut.begin(), cut.end(), field) != cut.end();
}

void read_address_field(const AddressField& field, std::string_view value, MailHead& head) {
  bool is_cut = false;
  auto& list = head.*field.list;
  list = parse_addresses(value, &is_cut);
  if (is_cut && !head.leaves_out(field.name)) head.cut.emplace_back(field.name);
  if (!list.empty() || is_cut) return;
  if (auto name = decode_header(value); !name.empty()) list.push_back({std::move(name), ""});
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
  if (address.address.empty()) return shown_name(address.name);
  return address.name.empty() ? address.address : shown_name(address.name) + " <" + address.address + ">";
}

std::string shown(const std::vector<MailAddress>& addresses) {
  std::string out;
  for (const auto& one : addresses) out += (out.empty() ? "" : ", ") + shown(one);
  return out;
}

}  // namespace gmail
