#include "address.hpp"

#include <kruxos/adapter/error.hpp>
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

bool is_loopback(std::string_view host) {
  return host.starts_with("127.") || host == "[::1]";
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
  if (address.host.empty()) throw no_address(text, "it names no host.");
  if (plain && !is_loopback(address.host)) throw no_address(text, "only https is spoken; begin it with https://.");
  address.origin = scheme + std::string(authority);
  address.rest = behind.substr(authority.size());
  if (!address.rest.starts_with('/')) address.rest.insert(0, "/");
  return address;
}

Address resolve(const Address& from, std::string_view location) {
  location = without_fragment(location);
  if (location.find("://") != std::string_view::npos && location.find("://") < location.find_first_of("/?"))
    return parse_address(location);
  const auto scheme = from.origin.substr(0, from.origin.find("//"));
  if (location.starts_with("//")) return parse_address(scheme + std::string(location));
  if (location.starts_with('/')) return parse_address(from.origin + std::string(location));
  const auto path = from.rest.substr(0, from.rest.find('?'));
  if (location.starts_with('?')) return parse_address(from.origin + path + std::string(location));
  return parse_address(from.origin + path.substr(0, path.rfind('/') + 1) + std::string(location));
}

}  // namespace network
