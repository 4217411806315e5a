// The addresses that a service may be spoken to at, as definitions and the configuration give them.
#pragma once

#include <string>
#include <string_view>

namespace krux {

/// Whether `host` is a literal address that only this machine can reach.
bool is_loopback(const std::string& host);

/// Empty when `url` is fit as a base for a service's requests: https, or http to a literal loopback address; ends with
/// "/"; no user, query or fragment. Otherwise the reason, a sentence.
std::string why_not_base_url(std::string_view url);

/// The same of a single address ("https://auth.example.com/token"), which need not end with "/".
std::string why_not_url(std::string_view url);

struct UrlPlace {
  std::string host;  ///< small letters, without brackets
  bool usual_port = true;
};
/// Where an address leads that why_not_url() has nothing against.
UrlPlace place_of(std::string_view url);

/// Empty when `host` is a lower-case DNS name, one with a leading "*." over at least two labels, or a literal loopback
/// address. Otherwise the reason.
std::string why_not_host(std::string_view host);

}  // namespace krux
