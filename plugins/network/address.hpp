// Addresses as agents and redirects name them.
#pragma once
#include <string>
#include <string_view>

namespace network {

struct Address {
  std::string origin;  ///< "https://api.example.com"
  std::string host;    ///< without the port, and an IPv6 address without its brackets
  std::string rest;    ///< "/path?query"

  std::string text() const { return origin + rest; }
};

/// Throws ProxyError kInvalid: another scheme than https (http to a loopback address alone), a user in it, no host,
/// spaces and control characters, more than 4,000 bytes. A fragment is left out.
Address parse_address(std::string_view text);

/// Where a redirect from `from` leads, "." and ".." in its path followed; throws as parse_address() does.
Address resolve(const Address& from, std::string_view location);

}  // namespace network
