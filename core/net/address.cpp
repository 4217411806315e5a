#include "core/net/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/util/error.hpp"

namespace krux {
namespace {

constexpr std::array<std::uint8_t, 12> kMappedPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct Block {
  const char* base;
  int bits;
};

// IPv4 blocks that are not globally reachable, multicast included.
constexpr Block kSpecialV4[] = {
    {"0.0.0.0", 8},     {"10.0.0.0", 8},      {"100.64.0.0", 10},  {"127.0.0.0", 8},    {"169.254.0.0", 16},
    {"172.16.0.0", 12}, {"192.0.0.0", 24},    {"192.0.2.0", 24},   {"192.88.99.0", 24}, {"192.168.0.0", 16},
    {"198.18.0.0", 15}, {"198.51.100.0", 24}, {"203.0.113.0", 24}, {"224.0.0.0", 4},    {"240.0.0.0", 4},
};

// Within 2000::/3, the only range that is assigned for global unicast: protocol assignments and Teredo, documentation,
// 6to4 (it tunnels to an IPv4 address of the name's choice), documentation.
constexpr Block kSpecialV6[] = {{"2001::", 23}, {"2001:db8::", 32}, {"2002::", 16}, {"3fff::", 20}};

bool within(const IpAddress& address, const IpAddress& base, int bits) {
  const int whole = bits / 8;
  if (!std::equal(base.bytes.begin(), base.bytes.begin() + whole, address.bytes.begin())) return false;
  const int rest = bits % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - rest));
  return (address.bytes[whole] & mask) == (base.bytes[whole] & mask);
}

bool within(const IpAddress& address, const char* base, int bits) {
  const auto parsed = parse_ip(base);
  return parsed && within(address, *parsed, parsed->is_v4() ? bits + 96 : bits);
}

bool in_any(const IpAddress& address, const auto& blocks) {
  return std::any_of(std::begin(blocks), std::end(blocks),
                     [&](const Block& b) { return within(address, b.base, b.bits); });
}

}  // namespace

bool IpAddress::is_v4() const {
  return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), bytes.begin());
}

std::string IpAddress::text() const {
  char buffer[INET6_ADDRSTRLEN] = {};
  inet_ntop(is_v4() ? AF_INET : AF_INET6, bytes.data() + (is_v4() ? 12 : 0), buffer, sizeof buffer);
  return buffer;
}

std::optional<IpAddress> parse_ip(std::string_view text) {
  const std::string terminated(text);
  if (terminated.size() != std::strlen(terminated.c_str())) return std::nullopt;
  IpAddress address;
  // inet_pton takes no octal, hexadecimal or shortened IPv4 and no zones.
  if (inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) == 1) return address;
  std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), address.bytes.begin());
  if (inet_pton(AF_INET, terminated.c_str(), address.bytes.data() + 12) == 1) return address;
  return std::nullopt;
}

bool is_loopback(const IpAddress& address) {
  return within(address, "127.0.0.0", 8) || within(address, "::1", 128);
}

bool is_public(const IpAddress& address) {
  if (address.is_v4()) return !in_any(address, kSpecialV4);
  if (within(address, "64:ff9b::", 96)) {
    IpAddress inner;
    std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), inner.bytes.begin());
    std::copy(address.bytes.begin() + 12, address.bytes.end(), inner.bytes.begin() + 12);
    return is_public(inner);
  }
  return within(address, "2000::", 3) && !in_any(address, kSpecialV6);
}

AddressPolicy::AddressPolicy(const std::vector<std::string>& allowed) {
  for (const auto& entry : allowed) {
    const auto slash = entry.find('/');
    const auto base = parse_ip(std::string_view(entry).substr(0, slash));
    if (!base)
      throw ConfigError(fmt::format("'{}' is not an IP address or network; write for example 10.0.0.0/8", entry));
    const int width = base->is_v4() ? 32 : 128;
    int bits = width;
    if (slash != std::string::npos) {
      const char* end = entry.data() + entry.size();
      const auto [stop, error] = std::from_chars(entry.data() + slash + 1, end, bits);
      if (error != std::errc() || stop != end || bits < 0 || bits > width) {
        throw ConfigError(fmt::format("'{}': the part behind the slash must be a number from 0 to {}", entry, width));
      }
    }
    allowed_.push_back({*base, bits + (128 - width)});
  }
}

bool AddressPolicy::allows(const IpAddress& address) const {
  return is_public(address) || std::any_of(allowed_.begin(), allowed_.end(),
                                           [&](const Network& n) { return within(address, n.base, n.bits); });
}

}  // namespace krux
