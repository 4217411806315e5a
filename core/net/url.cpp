#include "core/net/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <cctype>

#include "core/net/address.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

constexpr std::size_t kMaxUrlBytes = 16 * 1024;

[[noreturn]] void refuse(std::string_view why) {
  throw invalid_input(fmt::format("the request's address is not allowed: {}", why));
}

void check_characters(std::string_view text) {
  if (text.empty()) refuse("it is empty");
  if (text.size() > kMaxUrlBytes) refuse("it is longer than 16 KiB");
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f) refuse("white space, control and non-ASCII characters must be percent-encoded");
    if (c == '\\') refuse("it contains a back slash");
    if (c == '#') refuse("it contains a fragment");
  }
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void check_path(std::string_view path) {
  // A server may decode before it splits: "..", "%2e%2e" and "x%2f..%2fy" all climb.
  const std::string decoded = percent_decode(path, false) + '/';
  std::size_t start = 0;
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    const auto byte = static_cast<unsigned char>(decoded[i]);
    if (byte < 0x20 || byte == 0x7f) refuse("its path contains an encoded control character");
    if (decoded[i] != '/' && decoded[i] != '\\') continue;
    const auto segment = std::string_view(decoded).substr(start, i - start);
    if (segment == "." || segment == "..") refuse("its path contains a dot segment");
    start = i + 1;
  }
}

bool ends_in_number(std::string_view host) {
  const auto last = host.substr(host.rfind('.') + 1);  // npos + 1 is 0
  const bool hexadecimal = last.starts_with("0x");
  return hexadecimal || std::all_of(last.begin(), last.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

void check_host_name(std::string_view host) {
  if (host.empty() || host.size() > 253) refuse("its host name is empty or too long");
  std::size_t start = 0;
  while (start <= host.size()) {
    const auto end = std::min(host.find('.', start), host.size());
    const auto label = host.substr(start, end - start);
    const bool good = !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
                      std::all_of(label.begin(), label.end(),
                                  [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
    if (!good) refuse("its host name is not a valid one");
    start = end + 1;
  }
  // "127.1", "2130706433" and "0x7f.1" are addresses to the resolver.
  if (ends_in_number(host)) refuse("its host is a number, but not a complete IP address");
}

void take_host(const boost::urls::url_view& parsed, Url& url) {
  const std::string encoded(parsed.encoded_host());
  std::string_view text = encoded;
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const auto address = parse_ip(text);
  if (text.size() != encoded.size() && !address) refuse("its host is in brackets, but no IPv6 address");
  if (address) {
    url.host = address->text();
    url.host_is_address = true;
    return;
  }
  check_host_name(text);
  std::transform(text.begin(), text.end(), std::back_inserter(url.host),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
}

std::uint16_t default_port(const Url& url) {
  return url.scheme == "https" ? 443 : 80;
}

void take_port(const boost::urls::url_view& parsed, Url& url) {
  url.port = default_port(url);
  if (!parsed.has_port()) return;
  const std::string digits(parsed.port());
  if (digits.empty() || digits.size() > 5) refuse("its port is not a number from 1 to 65535");
  const int number = std::stoi(digits);
  if (number < 1 || number > 65535) refuse("its port is not a number from 1 to 65535");
  url.port = static_cast<std::uint16_t>(number);
}

/// RFC 3986: letters, digits, '+', '-', '.' and then a colon, before any other character.
bool has_scheme(std::string_view text) {
  const auto end = std::find_if(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) == 0 && c != '+' && c != '-' && c != '.';
  });
  return end != text.end() && *end == ':';
}

}  // namespace

std::string percent_decode(std::string_view text, bool form) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool complete = text[i] == '%' && i + 2 < text.size();
    const int high = complete ? hex_value(text[i + 1]) : -1;
    const int low = complete ? hex_value(text[i + 2]) : -1;
    if (high >= 0 && low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += form && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::string Url::authority() const {
  std::string text = host.find(':') == std::string::npos ? host : '[' + host + ']';
  if (port != default_port(*this)) text += ':' + std::to_string(port);
  return text;
}

std::string Url::origin() const {
  return scheme + "://" + authority();
}

Url parse_url(std::string_view text) {
  check_characters(text);
  const auto result = boost::urls::parse_uri({text.data(), text.size()});
  if (!result) refuse("it is not a valid absolute URL");
  const auto& parsed = *result;
  Url url;
  switch (parsed.scheme_id()) {
    case boost::urls::scheme::https:
      url.scheme = "https";
      break;
    case boost::urls::scheme::http:
      url.scheme = "http";
      break;
    default:
      refuse("only https is spoken (and http to a loopback address)");
  }
  if (!parsed.has_authority()) refuse("it has no host");
  // The library ends "127.0.0.1.evil.com" and "host:443x" where the address or the number ends and calls the rest a
  // path.
  const auto authority = text.substr(text.find("//") + 2);
  if (std::string_view(parsed.encoded_authority()) != authority.substr(0, authority.find_first_of("/?"))) {
    refuse("its host or port is not a valid one");
  }
  if (parsed.has_userinfo()) refuse("it contains a user name or password");
  take_host(parsed, url);
  take_port(parsed, url);
  if (url.scheme == "http" && !(url.host_is_address && is_loopback(*parse_ip(url.host)))) {
    refuse("plain http is spoken only with a literal loopback address such as 127.0.0.1; use https");
  }
  url.path = std::string(parsed.encoded_path());
  if (url.path.empty()) url.path = "/";
  check_path(url.path);
  if (parsed.has_query()) url.query = '?' + std::string(parsed.encoded_query());
  return url;
}

Url parse_base_url(std::string_view text) {
  Url url = parse_url(text);
  if (!url.query.empty()) refuse("a base address has no query");
  if (!url.path.ends_with('/')) url.path += '/';
  return url;
}

Url resolve_url(const Url& base, std::string_view reference) {
  check_characters(reference);
  if (has_scheme(reference)) return parse_url(reference);
  if (reference.starts_with("//")) refuse("it names a host without a scheme");
  const std::string target = reference.starts_with('/') ? std::string(reference) : base.path + std::string(reference);
  Url url = parse_url(base.origin() + target);
  if (url.origin() != base.origin() || !url.path.starts_with(base.path)) {
    refuse("a relative address must stay below the service's base address");
  }
  return url;
}

std::string path_below(const Url& base, const Url& url) {
  if (url.origin() != base.origin()) return "//" + url.authority() + url.path;
  return url.path.starts_with(base.path) ? url.path.substr(base.path.size()) : url.path;
}

}  // namespace krux
