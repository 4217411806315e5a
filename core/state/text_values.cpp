#include "core/state/text_values.hpp"

#include <algorithm>
#include <array>

#include "core/util/json_texts.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kLeastDigits = 6, kMostDigits = 19, kLeastMixed = 8, kMostMixed = 128, kLongestAddress = 320;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_of_host(char c) {
  return is_letter(c) || is_digit(c) || c == '-' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_of_local_part(char c) {
  return is_letter(c) || is_digit(c) || std::string_view(".!#$%&'*+/=?^_`{|}~-").find(c) != std::string_view::npos;
}

std::string small(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

/// The longest host that begins at `from`, cut at what no name is as long as; what ends a sentence is not its.
std::string_view host_at(std::string_view text, std::size_t from) {
  auto to = from;
  while (to < text.size() && to - from < kLongestAddress && is_of_host(text[to])) ++to;
  while (to > from && (text[to - 1] == '.' || text[to - 1] == '-')) --to;
  return text.substr(from, to - from);
}

/// What programs make a link of though no scheme stands before it.
bool has_common_ending(std::string_view host) {
  static constexpr std::array<std::string_view, 40> kEndings{
      ".com",  ".net",  ".org",  ".info", ".biz", ".app",   ".dev",   ".io",     ".co",   ".xyz",
      ".me",   ".ai",   ".gov",  ".edu",  ".top", ".site",  ".click", ".online", ".shop", ".store",
      ".link", ".live", ".club", ".vip",  ".icu", ".cloud", ".tech",  ".page",   ".ru",   ".cn",
      ".tk",   ".ml",   ".ga",   ".cf",   ".gq",  ".ly",    ".uk",    ".de",     ".fr",   ".eu"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](auto ending) { return host.ends_with(ending); });
}

/// "host.tld/": what stands before a slash is a host where its last part is letters.
bool ends_as_host(std::string_view host) {
  const auto last = host.substr(host.rfind('.') + 1);
  return last.size() >= 2 && last.size() < host.size() && std::all_of(last.begin(), last.end(), is_letter);
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char letter = static_cast<char>(c | 0x20);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/// "%65" is "e", as programs read it.
std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const int high = text[at] == '%' && at + 2 < text.size() ? hex_digit(text[at + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[at + 2]) : -1;
    out += low >= 0 ? static_cast<char>(high * 16 + low) : text[at];
    at += low >= 0 ? 2 : 0;
  }
  return out;
}

/// "2026-11-26", or the same with other separators.
bool is_day(std::string_view groups) {
  return groups.size() == 10 && !is_digit(groups[4]) && !is_digit(groups[7]) &&
         (groups.starts_with("19") || groups.starts_with("20"));
}

class Finder {
 public:
  Finder(std::string_view text, bool codes, std::size_t most, std::vector<TextValue>& found)
      : text_(text), codes_(codes), most_(most), found_(found) {}

  void run() {
    for (std::size_t i = 0; i < text_.size() && found_.size() < most_;) {
      const char c = text_[i];
      if (c == '@') {
        i = address(i);
      } else if (const auto behind = c == ':' ? behind_scheme(i) : 0; behind > 0) {
        i = link(behind);
      } else if (begins_word(i)) {
        i = word(i);
      } else {
        ++i;
      }
    }
  }

 private:
  bool begins_word(std::size_t i) const {
    const auto is_part = [&](std::size_t at) { return is_letter(text_[at]) || is_digit(text_[at]); };
    return is_part(i) && (i == 0 || !is_part(i - 1));
  }

  void add(ValueKind kind, std::string value, std::size_t from, std::size_t to) {
    found_.push_back({kind, std::move(value), from, to - from});
  }

  std::size_t address(std::size_t at) {
    auto from = at;
    while (from > 0 && is_of_local_part(text_[from - 1]) && at - from < kLongestAddress) --from;
    while (from < at && text_[from] == '.') ++from;
    const auto host = host_at(text_, at + 1);
    if (from < at && host.find('.') != std::string_view::npos && host.size() < kLongestAddress)
      add(ValueKind::kAddress, small(text_.substr(from, at - from)) + "@" + small(host), from, at + 1 + host.size());
    return at + 1 + host.size();
  }

  /// Of the ":" of a scheme, where what follows begins; 0: it is none. Browsers take "https:\\host" and "https:host"
  /// for the same as "https://host".
  std::size_t behind_scheme(std::size_t colon) const {
    if (text_.substr(colon).starts_with("://")) return text_.find_first_not_of("/\\", colon + 1);
    const auto before = small(text_.substr(colon < 5 ? 0 : colon - 5, std::min<std::size_t>(colon, 5)));
    if (!before.ends_with("http") && !before.ends_with("https")) return 0;
    const auto behind = text_.find_first_not_of("/\\", colon + 1);
    return behind < text_.size() && (is_of_host(text_[behind]) || behind > colon + 1) ? behind : 0;
  }

  /// `from`: where its host begins, or what stands before it there (a name and a password).
  std::size_t link(std::size_t from) {
    if (from >= text_.size()) return text_.size();
    const auto end = std::min({text_.find_first_of("/\\?# \t\r\n\"'<>|", from), text_.size(), from + kLongestAddress});
    const auto authority = text_.substr(from, end - from);
    const auto at = authority.rfind('@');
    const auto named = at == std::string_view::npos ? from : from + at + 1;
    const auto host = host_at(text_, named);
    // What is no plain host is a link all the same: "[::1]", "%65vil.example".
    const auto behind = named + host.size();
    if (named < end && (host.empty() || (behind < end && text_[behind] == '%'))) {
      const auto decoded = percent_decoded(text_.substr(named, end - named));
      const auto plain = host_at(decoded, 0);
      const bool names =
          std::any_of(decoded.begin(), decoded.end(), [](char c) { return is_letter(c) || is_digit(c); });
      if (names) add_link(plain.empty() ? std::string_view(decoded) : plain, named);
    } else {
      add_link(host, named);
    }
    return std::max(end, behind);
  }

  void add_link(std::string_view host, std::size_t from) {
    auto name = small(host);
    if (name.starts_with("www.")) name.erase(0, 4);
    if (!name.empty() && name.size() < kLongestAddress)
      add(ValueKind::kLink, std::move(name), from, from + host.size());
  }

  /// A code, a host without a scheme, or none of both.
  std::size_t word(std::size_t from) {
    if (codes_ && is_digit(text_[from])) {
      if (const auto to = digits(from); to > from) return to;
    }
    auto to = from;
    std::size_t letters = 0, numbers = 0;
    for (; to < text_.size() && (is_letter(text_[to]) || is_digit(text_[to])); ++to)
      ++(is_digit(text_[to]) ? numbers : letters);
    const auto size = to - from;
    if (codes_ && letters >= 2 && numbers >= 2 && size >= kLeastMixed && size <= kMostMixed)
      add(ValueKind::kCode, small(text_.substr(from, size)), from, to);
    if (to >= text_.size() || (text_[to] != '.' && text_[to] != '-')) return to;
    const auto host = host_at(text_, from);
    const auto end = from + host.size();
    const bool is_local_part = end < text_.size() && text_[end] == '@';
    const auto name = small(host);
    const bool has_path = end < text_.size() && text_[end] == '/' && ends_as_host(name);
    if (is_local_part || host.size() <= size || !(name.starts_with("www.") || has_common_ending(name) || has_path))
      return to;
    add_link(host, from);
    return end;
  }

  /// Digits, also with "-" between them, and such groups with a blank between them; where they end, or `from` where the
  /// first is no number.
  std::size_t digits(std::size_t from) {
    std::string whole;
    int groups = 0;
    auto to = from;
    for (auto at = from;; at = to + 1) {
      const auto end = group_end(at);
      const auto group = text_.substr(at, end - at);
      const bool goes_on = end < text_.size() && is_letter(text_[end]);
      if (is_day(group)) return groups > 0 ? to : end;
      if (goes_on) break;
      auto code = without_dashes(group);
      whole += code;
      to = end;
      ++groups;
      add_code(std::move(code), at, end);
      if (end + 1 >= text_.size() || text_[end] != ' ' || !is_digit(text_[end + 1])) break;
    }
    if (groups > 1) add_code(std::move(whole), from, to);
    return to;
  }

  std::size_t group_end(std::size_t at) const {
    while (at < text_.size() &&
           (is_digit(text_[at]) || (text_[at] == '-' && at + 1 < text_.size() && is_digit(text_[at + 1]))))
      ++at;
    return at;
  }

  static std::string without_dashes(std::string_view group) {
    std::string out(group);
    std::erase(out, '-');
    return out;
  }

  void add_code(std::string code, std::size_t from, std::size_t to) {
    if (code.size() >= kLeastDigits && code.size() <= kMostDigits) add(ValueKind::kCode, std::move(code), from, to);
  }

  std::string_view text_;
  bool codes_;
  std::size_t most_;
  std::vector<TextValue>& found_;
};

constexpr std::size_t kLeastPhone = 7, kMostPhone = 15, kOfPhone = 9;

constexpr std::size_t kLeastGroupBehind = 3;  ///< digits of a group that goes on where a number could end

/// The bytes of a sign between two groups that begins there; 0: none does. Dashes beyond ASCII are U+2010 to U+2015.
std::size_t separator_at(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == ' ' || c == '-' || c == '.' || c == '/' || c == '(' || c == ')') return 1;
  const auto dash = text.substr(at, 3);
  return dash.size() == 3 && dash.starts_with("\xe2\x80") && dash[2] >= '\x90' && dash[2] <= '\x95' ? 3 : 0;
}

struct Phone {
  std::string digits;
  int groups = 0;
  bool goes_on = false;    ///< with more digits than a number has
  bool dots_alone = true;  ///< nothing else separates its groups
  std::size_t end = 0;     ///< behind its last digit
};

/// Groups of digits from there on, with up to four signs between two: as many as a number has. Behind what could be
/// a number alone a short group, or one that begins with 0, is something else ("0800-555-0199 24/7").
Phone phone_at(std::string_view text, std::size_t from) {
  Phone phone;
  auto at = from;
  while (at < text.size() && (text[at] == '+' || text[at] == '(')) ++at;
  for (bool by_dots = true;;) {
    const auto begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    const auto size = at - begin, whole = phone.digits.size() + size;
    phone.goes_on = size > 0 && whole > kMostPhone;
    if (size == 0 || (phone.groups > 0 && phone.goes_on)) break;
    const bool begins_anew = size < kLeastGroupBehind || text[begin] == '0';
    if (phone.digits.size() > kOfPhone && begins_anew && !is_day(text.substr(from, 10))) break;
    phone.digits += text.substr(begin, size);
    phone.end = at;
    ++phone.groups;
    phone.dots_alone = phone.dots_alone && (by_dots || phone.groups == 1);
    by_dots = true;
    std::size_t signs = 0;
    for (; at < text.size() && signs < 4; ++signs) {
      const auto bytes = separator_at(text, at);
      if (bytes == 0) break;
      by_dots = by_dots && text[at] == '.';
      at += bytes;
    }
    if (signs == 0) break;
  }
  return phone;
}

/// A number is taken for one to be called by how it begins, or by being long and grouped; not a day, nor what looks
/// like an address of the Internet ("192.168.100.200").
bool is_phone(const Phone& phone, std::string_view text) {
  const auto size = phone.digits.size();
  if (size < kLeastPhone || size > kMostPhone || is_day(text.substr(0, 10))) return false;
  if (phone.groups == 4 && phone.dots_alone) return false;
  const bool begins = text.front() == '+' || text.front() == '(' || text.front() == '0';
  return begins || (size >= 10 && phone.groups >= 2 && !phone.goes_on);
}

void add_phones(std::string_view text, std::size_t most, std::vector<TextValue>& found) {
  for (std::size_t i = 0; i < text.size() && found.size() < most;) {
    const bool may = is_digit(text[i]) || ((text[i] == '+' || text[i] == '(') && i + 1 < text.size());
    const auto before = i > 0 ? text[i - 1] : ' ';
    if (!may || is_digit(before) || is_letter(before)) {
      ++i;
      continue;
    }
    auto phone = phone_at(text, i);
    const bool goes_on = phone.end < text.size() && text[phone.end] == '@';
    if (phone.end > i && !goes_on && is_phone(phone, text.substr(i))) {
      auto& digits = phone.digits;
      if (digits.size() > kOfPhone) digits.erase(0, digits.size() - kOfPhone);
      found.push_back({ValueKind::kPhone, std::move(digits), i, phone.end - i});
    }
    i = std::max(i + 1, phone.end);
  }
}

}  // namespace

bool names_or_dates(std::string_view key) {
  return key == "id" || key == "ts" || key == "date" || key == "cursor" || key.ends_with("_id") ||
         key.ends_with("_ts") || key.ends_with("_at") || key.ends_with("offset");
}

std::vector<TextValue> values_in(std::string_view text, std::size_t most) {
  std::vector<TextValue> found;
  Finder(text, true, most, found).run();
  add_phones(text, most, found);
  return found;
}

std::vector<TextValue> values_in_json(std::string_view json, std::size_t most) {
  std::vector<TextValue> found;
  each_text(json, [&](std::string_view key, std::string_view text) {
    const auto plain = undisguised(text);
    Finder(plain, !names_or_dates(key), most, found).run();
    if (!names_or_dates(key)) add_phones(plain, most, found);
  });
  return found;
}

}  // namespace krux
