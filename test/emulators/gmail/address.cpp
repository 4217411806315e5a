#include "emulators/gmail/address.hpp"

#include <algorithm>
#include <cctype>

namespace krux::test::gmail {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool is_atom_char(char c) {
  const unsigned char byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || byte >= 0x80 ||
         std::string_view("!#$%&'*+-/=?^_`{|}~").find(c) != std::string_view::npos;
}

// Labels joined by single dots.
bool is_dotted(std::string_view text, bool host) {
  if (text.empty() || text.front() == '.' || text.back() == '.') return false;
  char before = '.';
  for (const char c : text) {
    if (c == '.' && before == '.') return false;
    if (c != '.' && !is_atom_char(c)) return false;
    if (host && c != '.' && c != '-' && std::isalnum(static_cast<unsigned char>(c)) == 0 &&
        static_cast<unsigned char>(c) < 0x80) {
      return false;
    }
    before = c;
  }
  return true;
}

bool is_mail(const std::string& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos || at == 0) return false;
  const std::string local = text.substr(0, at), host = text.substr(at + 1);
  const bool quoted = local.size() > 2 && local.front() == '"' && local.back() == '"';
  return (quoted || is_dotted(local, false)) && is_dotted(host, true) && host.find('.') != std::string::npos;
}

// What stands between commas that are neither quoted nor in brackets or comments; comments are left out, and a group's
// name and end.
std::vector<std::string> split(std::string_view header) {
  std::vector<std::string> pieces(1);
  bool quoted = false, angled = false;
  int comments = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const char c = header[i];
    if (quoted && c == '\\' && i + 1 < header.size()) {
      pieces.back() += c;
      pieces.back() += header[++i];
      continue;
    }
    if (c == '"' && comments == 0) quoted = !quoted;
    if (!quoted && c == '(') ++comments;
    if (!quoted && comments > 0) {
      if (c == ')') --comments;
      continue;
    }
    if (!quoted && c == '<') angled = true;
    if (!quoted && c == '>') angled = false;
    if (quoted || angled || (c != ',' && c != ';' && c != ':')) {
      pieces.back() += c;
    } else if (c == ':') {
      pieces.back().clear();
    } else {
      pieces.emplace_back();
    }
  }
  return pieces;
}

}  // namespace

bool parse_addresses(std::string_view header, std::vector<Address>& into) {
  bool all = true;
  for (const std::string& piece : split(header)) {
    const std::string text = trimmed(piece);
    if (text.empty()) continue;
    Address address;
    const std::size_t open = text.rfind('<');
    if (open == std::string::npos) {
      address.mail = text;
    } else {
      const std::size_t close = text.find('>', open);
      address.name = trimmed(text.substr(0, open));
      address.mail = trimmed(text.substr(open + 1, close == std::string::npos ? close : close - open - 1));
      all = all && close != std::string::npos && trimmed(text.substr(close + 1)).empty();
    }
    all = all && is_mail(address.mail);
    into.push_back(std::move(address));
  }
  return all;
}

}  // namespace krux::test::gmail
