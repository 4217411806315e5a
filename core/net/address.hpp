// IP addresses, and which of them the host may speak to.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krux {

/// IPv4 is kept in its mapped form (::ffff:a.b.c.d), so that both spellings of an address are one.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};

  bool is_v4() const;
  std::string text() const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

/// Strict: dotted decimal of four parts without leading zeros, or RFC 4291 without a zone.
std::optional<IpAddress> parse_ip(std::string_view text);

/// 127.0.0.0/8 or ::1.
bool is_loopback(const IpAddress& address);

/// Whether the address is reachable from the whole internet by the IANA special-purpose registries. An address that
/// carries an IPv4 address inside (mapped, NAT64) is judged by that.
bool is_public(const IpAddress& address);

/// Immutable, any thread.
class AddressPolicy {
 public:
  /// `allowed` lists addresses and networks ("10.1.2.3", "10.0.0.0/8", "fd00::/8") that may be reached although they
  /// are not public. Throws ConfigError.
  explicit AddressPolicy(const std::vector<std::string>& allowed);

  bool allows(const IpAddress& address) const;

 private:
  struct Network {
    IpAddress base;
    int bits;
  };
  std::vector<Network> allowed_;
};

}  // namespace krux
