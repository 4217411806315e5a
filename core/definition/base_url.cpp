#include "core/definition/base_url.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "core/util/text.hpp"

namespace krux {
namespace {

bool is_label(std::string_view label) {
  if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') return false;
  for (const char c : label) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')) return false;
  }
  return true;
}

/// How many labels the name has; 0 when it is no lower-case DNS name.
int labels(std::string_view name) {
  if (name.empty() || name.size() > 253) return 0;
  int count = 0;
  for (std::size_t at = 0; at <= name.size(); ++count) {
    const auto dot = std::min(name.find('.', at), name.size());
    if (!is_label(name.substr(at, dot - at))) return 0;
    at = dot + 1;
  }
  const bool numeric = name.find_first_not_of("0123456789.") == std::string_view::npos;
  return numeric ? 0 : count;
}

}  // namespace

std::string why_not_host(std::string_view host) {
  if (is_loopback(std::string(host))) return {};
  if (host.starts_with("*.")) {
    if (labels(host.substr(2)) >= 2) return {};
    return fmt::format("\"{}\": behind \"*.\" a name of at least two parts is expected, such as *.example.com.",
                       printable(host));
  }
  if (host.find('*') != std::string_view::npos)
    return fmt::format("\"{}\": an asterisk may stand only at the front, as \"*.\".", printable(host));
  if (labels(host) == 0)
    return fmt::format(
        "\"{}\" is not a host name: a name in small letters without scheme, port and path is expected, "
        "such as api.example.com.",
        printable(host));
  return {};
}

bool is_loopback(const std::string& host) {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string why_not_url(std::string_view url) {
  if (url.size() > 2000) return "the address has more than 2000 characters.";
  const auto parsed = boost::urls::parse_uri(boost::core::string_view(url.data(), url.size()));
  const std::string shown = printable(url.substr(0, 200));
  if (!parsed) return fmt::format("\"{}\" is not an address such as https://api.example.com/.", shown);
  if (parsed->has_userinfo()) return "an address with a user or password in it is not accepted.";
  if (parsed->has_query() || parsed->has_fragment())
    return fmt::format("\"{}\": ? and # are not accepted here.", shown);
  const std::string host = parsed->host_address();
  if (host.empty()) return fmt::format("\"{}\" has no host.", shown);
  // Boost 1.81 takes 127.0.0.1.example.com for an address with a path behind it.
  if (!parsed->encoded_path().starts_with('/') && !parsed->encoded_path().empty())
    return fmt::format("\"{}\" has a host that looks like an address and is none.", shown);
  const bool plain = parsed->scheme_id() == boost::urls::scheme::http;
  if (plain && !is_loopback(host))
    return fmt::format("\"{}\": http is accepted only for the loopback addresses 127.0.0.1 and [::1]; use https.",
                       shown);
  if (!plain && parsed->scheme_id() != boost::urls::scheme::https)
    return fmt::format("\"{}\": only https is accepted.", shown);
  if (parsed->has_port() && (parsed->port_number() == 0)) return fmt::format("\"{}\" has no usable port.", shown);
  return {};
}

UrlPlace place_of(std::string_view url) {
  const auto parsed = boost::urls::parse_uri(boost::core::string_view(url.data(), url.size()));
  if (!parsed) return {};
  UrlPlace place{parsed->host_address(), true};
  for (auto& c : place.host) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  const std::uint16_t usual = parsed->scheme_id() == boost::urls::scheme::https ? 443 : 80;
  place.usual_port = !parsed->has_port() || parsed->port().empty() || parsed->port_number() == usual;
  return place;
}

std::string why_not_base_url(std::string_view url) {
  const auto end = url.find_first_of("?#");
  if (auto why = why_not_url(url); !why.empty() || url.substr(0, end).ends_with('/')) return why;
  return fmt::format("\"{}\" must end with /.", printable(url.substr(0, 200)));
}

}  // namespace krux
