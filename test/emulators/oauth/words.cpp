#include "emulators/oauth/words.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

namespace krux::test::oauth {
namespace {

bool is_unreserved(unsigned char c) {
  return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
}

std::string base64url(const unsigned char* bytes, std::size_t size) {
  static const char* const kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  unsigned value = 0;
  int bits = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value = value << 8 | bytes[i];
    for (bits += 8; bits >= 6; bits -= 6) text += kDigits[value >> (bits - 6) & 63];
  }
  if (bits > 0) text += kDigits[value << (6 - bits) & 63];
  return text;
}

}  // namespace

std::string field(const Fields& fields, const std::string& name) {
  auto found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

std::optional<Address> parse_address(const std::string& text) {
  const std::size_t colon = text.find("://");
  if (colon == std::string::npos || colon == 0 || text.find('#') != std::string::npos) return std::nullopt;
  const std::size_t host = colon + 3, path = std::min(text.find_first_of("/?", host), text.size());
  Address address;
  address.scheme = text.substr(0, colon);
  std::string authority = text.substr(host, path - host);
  if (authority.empty() || authority.find('@') != std::string::npos) return std::nullopt;
  const std::size_t port = authority.find(':', authority[0] == '[' ? authority.find(']') : 0);
  if (port != std::string::npos) address.port = authority.substr(port + 1);
  address.host = authority.substr(0, port);
  address.path = text.substr(path);
  return address;
}

bool is_loopback(const Address& address) {
  return address.scheme == "http" &&
         (address.host == "127.0.0.1" || address.host == "[::1]" || address.host == "localhost");
}

Scopes split_scopes(std::string_view text) {
  Scopes scopes;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" ,"), text.size());
    if (end > 0 && !contains(scopes, text.substr(0, end))) scopes.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return scopes;
}

std::string join_scopes(const Scopes& scopes, char between) {
  std::string text;
  for (const std::string& scope : scopes) {
    if (!text.empty()) text += between;
    text += scope;
  }
  return text;
}

bool contains(const Scopes& scopes, std::string_view scope) {
  return std::find(scopes.begin(), scopes.end(), scope) != scopes.end();
}

void add_scopes(Scopes& to, const Scopes& more) {
  for (const std::string& scope : more) {
    if (!contains(to, scope)) to.push_back(scope);
  }
}

std::string s256(std::string_view verifier) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(verifier.data(), verifier.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 is not to be had");
  }
  return base64url(digest.data(), size);
}

bool is_verifier(std::string_view text) {
  return text.size() >= 43 && text.size() <= 128 && std::all_of(text.begin(), text.end(), is_unreserved);
}

std::string Mint::text(std::string_view prefix) {
  return std::string(prefix) + s256(fmt::format("krux-oauth-{}-{}", next_++, prefix));
}

std::string percent_encode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    encoded += is_unreserved(byte) ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return encoded;
}

std::string with_query(std::string address, const std::vector<std::pair<std::string, std::string>>& fields) {
  for (const auto& [name, value] : fields) {
    address += address.find('?') == std::string::npos ? '?' : '&';
    address += percent_encode(name) + "=" + percent_encode(value);
  }
  return address;
}

}  // namespace krux::test::oauth
