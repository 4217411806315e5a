#include "recipients.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "gmime.hpp"
#include "input.hpp"
#include "utf8.hpp"

namespace gmail {
namespace {

constexpr std::size_t kMostRecipientBytes = 32 * 1024;
constexpr std::size_t kMostNameBytes = 256;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_atom(char c) {
  constexpr std::string_view kOthers = "!#$%&'*+-/=?^_`{|}~";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         kOthers.find(c) != std::string_view::npos;
}

bool is_local_part(std::string_view text) {
  if (text.empty() || text.size() > 64 || text.front() == '.' || text.back() == '.') return false;
  // An encoded word is made of characters that an address may have too, and readers would decode it.
  return text.find("..") == std::string_view::npos && text.find("=?") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_atom(c) || c == '.'; });
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
         std::all_of(label.begin(), label.end(), [](char c) { return c == '-' || (is_atom(c) && g_ascii_isalnum(c)); });
}

/// Letters, marks, digits and hyphens, some of them foreign: what a name of the kind "xn--…" stands for.
bool is_foreign_name(std::string_view text) {
  bool foreign = false;
  const std::string copy(text);
  if (!is_utf8(copy)) return false;
  for (const char* at = copy.c_str(); *at != '\0'; at = g_utf8_next_char(at)) {
    const auto c = g_utf8_get_char(at);
    if (c != '-' && !g_unichar_isalnum(c) && !g_unichar_ismark(c)) return false;
    foreign = foreign || c >= 0x80;
  }
  return foreign;
}

/// Whether a label "xn--…" stands for a name, and the name for the label alone. Programs decode such labels before
/// they look for commas and brackets, and one can be made to hold them.
bool is_safe_label(std::string_view label) {
  const HeldText lower(g_ascii_strdown(label.data(), static_cast<gssize>(label.size())));
  if (!std::string_view(lower.get()).starts_with("xn--")) return true;
  start_gmime();
  const auto given = std::string("a@") + lower.get();
  const Held<InternetAddress> mailbox(internet_address_mailbox_new(nullptr, given.c_str()));
  auto* const parsed = INTERNET_ADDRESS_MAILBOX(mailbox.get());
  const std::string_view decoded = internet_address_mailbox_get_addr(parsed);
  return decoded.starts_with("a@") && is_foreign_name(decoded.substr(2)) &&
         internet_address_mailbox_get_idn_addr(parsed) == given;
}

bool is_domain(std::string_view domain) {
  if (domain.size() > 253 || domain.find('.') == std::string_view::npos) return false;
  while (!domain.empty()) {
    const auto dot = domain.find('.');
    if (!is_label(domain.substr(0, dot)) || !is_safe_label(domain.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    domain.remove_prefix(dot + 1);
  }
  return false;
}

/// With the domain in its ASCII form; nothing where it is no address.
std::optional<std::string> normal_address(std::string_view text) {
  const auto at = text.rfind('@');
  if (at == std::string_view::npos || !is_local_part(text.substr(0, at))) return std::nullopt;
  const std::string domain(text.substr(at + 1));
  if (domain.size() > 253) return std::nullopt;
  const bool ascii = std::all_of(domain.begin(), domain.end(), [](char c) { return static_cast<signed char>(c) > 0; });
  const HeldText converted(ascii ? nullptr : g_hostname_to_ascii(domain.c_str()));
  const std::string plain = ascii ? domain : converted ? converted.get() : "";
  if (!is_domain(plain)) return std::nullopt;
  return std::string(text.substr(0, at + 1)) + plain;
}

/// The items between the commas that stand in no quotation and no angle brackets.
class Splitter {
 public:
  Splitter(std::string_view field, std::string_view text) : field_(field), text_(text) {}

  std::vector<std::string_view> items() {
    std::size_t from = 0;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quoted_) {
        if (c == '\\') ++i;
        quoted_ = c != '"';
      } else if (c == ',' && !bracketed_) {
        add(from, i);
        from = i + 1;
      } else {
        plain(c);
      }
    }
    if (quoted_ || bracketed_) refuse("a quotation or an angle bracket is not closed");
    add(from, text_.size());
    return std::move(items_);
  }

 private:
  void plain(char c) {
    if (c == '"') quoted_ = true;
    if (c == ';') refuse("addresses are separated by commas");
    if (c == ':') refuse("groups of addresses are not taken; name each address");
    if (c == '(' || c == ')') refuse("comments in brackets are not taken");
    if (c == '<' && bracketed_) refuse("an angle bracket stands within another");
    if (c == '<') bracketed_ = true;
    if (c == '>') bracketed_ = false;
  }
  void add(std::size_t from, std::size_t to) {
    const auto item = trimmed(text_.substr(from, to - from));
    if (!item.empty()) items_.push_back(item);
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw bad_input("\"" + std::string(field_) + "\" cannot be read: " + why + ".");
  }

  const std::string_view field_, text_;
  bool quoted_ = false, bracketed_ = false;
  std::vector<std::string_view> items_;
};

/// A display name, with or without quotes; nothing where it is none.
std::optional<std::string> display_name(std::string_view text) {
  if (text.empty() || text.front() != '"') {
    if (text.find_first_of("\"<>@,;:\\") != std::string_view::npos) return std::nullopt;
    return std::string(text);
  }
  std::string out;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1 == text.size() ? std::optional(out) : std::nullopt;
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return std::nullopt;
}

MailAddress mailbox(std::string_view field, std::string_view item) {
  const auto open = item.rfind('<');
  const bool bracketed = item.back() == '>' && open != std::string_view::npos;
  const auto address = normal_address(trimmed(bracketed ? item.substr(open + 1, item.size() - open - 2) : item));
  const auto name = bracketed ? display_name(trimmed(item.substr(0, open))) : std::string();
  if (!address || !name || name->size() > kMostNameBytes) {
    throw bad_input("\"" + quotable(item) + "\" in \"" + std::string(field) +
                    "\" is no mail address; write amy@example.com or Amy Lee <amy@example.com>, separated by commas.");
  }
  return {*name, *address};
}

}  // namespace

std::vector<MailAddress> parse_recipients(std::string_view field, std::string_view text) {
  require_header_text(field, text, kMostRecipientBytes);
  std::vector<MailAddress> out;
  for (const auto item : Splitter(field, text).items()) out.push_back(mailbox(field, item));
  return out;
}

void settle_recipients(std::vector<MailAddress>& to, std::vector<MailAddress>& cc, std::vector<MailAddress>& bcc) {
  std::set<std::string> known;
  for (auto* list : {&to, &cc, &bcc}) {
    std::vector<MailAddress> kept;
    for (auto& one : *list) {
      const HeldText lower(g_ascii_strdown(one.address.c_str(), -1));
      if (known.insert(lower.get()).second) kept.push_back(std::move(one));
    }
    *list = std::move(kept);
  }
  if (known.empty()) throw bad_input("The mail has no recipient.");
  if (known.size() > kMostRecipients) {
    throw bad_input("The mail has " + std::to_string(known.size()) + " recipients; at most " +
                    std::to_string(kMostRecipients) + " are taken.");
  }
}

bool is_address(std::string_view address) {
  const auto normal = normal_address(address);
  return normal && *normal == address;
}

std::string quotable(std::string_view text) {
  auto out = clean_line(text.substr(0, 400));
  if (cut_text(out, 100)) out += "…";
  return out;
}

void require_header_text(std::string_view what, std::string_view text, std::size_t most_bytes) {
  const bool control = std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
  if (control) throw bad_input("\"" + std::string(what) + "\" has a line break or another control character in it.");
  if (!is_utf8(text)) throw bad_input("\"" + std::string(what) + "\" is not valid UTF-8.");
  if (text.size() > most_bytes) {
    throw bad_input("\"" + std::string(what) + "\" is longer than " + std::to_string(most_bytes) + " bytes.");
  }
}

}  // namespace gmail
