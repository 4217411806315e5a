#include "address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <kruxos/adapter/error.hpp>
#include <kruxos/kit/paging.hpp>
#include <kruxos/kit/text.hpp>

#include <algorithm>

namespace network {
namespace {

constexpr std::size_t kLongest = 4000;

kruxos::ProxyError no_address(std::string_view text, const std::string& why) {
  return kruxos::ProxyError(kruxos::ErrorKind::kInvalid, kruxos::kit::printable(text, 300) + " is refused: " + why)
      .no_effect();
}

std::string_view without_fragment(std::string_view text) {
  return text.substr(0, text.find('#'));
}

/// As the host has it: a literal address, and no name that only begins like one.
bool is_loopback(const std::string& host) {
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  in6_addr six{};
  return inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

/// "/a/./b/../c" is "/a/c". What stands behind a '?' is no path.
std::string without_dots(std::string_view target) {
  const auto path = target.substr(0, target.find('?'));
  std::string out;
  for (std::size_t at = 0; at < path.size();) {  // at a '/'
    const auto end = std::min(path.find('/', at + 1), path.size());
    const auto segment = path.substr(at + 1, end - at - 1);
    const bool goes_up = segment == "..", stays = segment == ".";
    if (goes_up) out.resize(out.empty() ? 0 : out.rfind('/'));
    if (!goes_up && !stays) out.append("/").append(segment);
    if ((goes_up || stays) && end == path.size()) out += '/';
    at = end;
  }
  return out.append(target.substr(path.size()));
}

}  // namespace

Address parse_address(std::string_view text) {
  if (text.size() > kLongest) throw no_address(text.substr(0, 100), "it has more than 4,000 bytes.");
  const auto is_odd = [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f || c == '\\';
  };
  if (std::any_of(text.begin(), text.end(), is_odd))
    throw no_address(text, "spaces, backslashes and other than ASCII characters are percent-encoded in an address.");
  const bool plain = kruxos::kit::lower_ascii(text.substr(0, 7)) == "http://";
  if (!plain && kruxos::kit::lower_ascii(text.substr(0, 8)) != "https://")
    throw no_address(text, "an address begins with https://.");
  const auto scheme = std::string(plain ? "http://" : "https://");
  const auto behind = without_fragment(text.substr(scheme.size()));
  const auto authority = behind.substr(0, behind.find_first_of("/?"));
  if (authority.find('@') != std::string_view::npos) throw no_address(text, "a user or password has no place in it.");
  const auto port = authority.starts_with('[') ? authority.find(':', authority.find(']')) : authority.find(':');
  Address address;
  address.host = authority.substr(0, port);
  if (address.host.starts_with('[') && address.host.ends_with(']'))
    address.host = address.host.substr(1, address.host.size() - 2);
  if (address.host.empty()) throw no_address(text, "it names no host.");
  if (plain && !is_loopback(address.host)) throw no_address(text, "only https is spoken; begin it with https://.");
  address.origin = scheme + std::string(authority);
  address.rest = behind.substr(authority.size());
  if (!address.rest.starts_with('/')) address.rest.insert(0, "/");
  return address;
}

Address resolve(const Address& from, std::string_view location) {
  const auto meant = kruxos::kit::resolved(from.rest, without_fragment(location));
  const auto scheme = from.origin.substr(0, from.origin.find("//"));
  auto address = parse_address(meant.starts_with("//")  ? scheme + meant
                               : meant.starts_with('/') ? from.origin + meant
                                                        : meant);
  address.rest = without_dots(address.rest);
  return address;
}

}  // namespace network
