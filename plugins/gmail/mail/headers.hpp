// Header fields of mail: encoded words, addresses, dates, message ids. Everything that comes out is valid UTF-8 without
// NUL or line breaks, whatever goes in; nothing throws for malformed input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gmail {

struct MailAddress {
  std::string name{};  ///< may be empty
  /// As it stands in the header, its domain in ASCII (xn--…): letters that look alike differ there. Need not be a good
  /// one.
  std::string address{};
  bool operator==(const MailAddress&) const = default;
};

constexpr std::size_t kMostHeaderBytes = 64 * 1024;  ///< of one field; what is beyond is not read
constexpr std::size_t kMostAddresses = 1000;         ///< of one field
constexpr std::size_t kMostReferences = 100;         ///< the first one and the latest are kept

/// RFC 2047 words, folding and raw 8-bit text. A value that is decoded already comes back as it is, as long as it does
/// not itself hold what looks like an encoded word.
std::string decode_header(std::string_view value);

/// An address list, members of groups included, encoded or not.
std::vector<MailAddress> parse_addresses(std::string_view value);

/// Unix milliseconds, or nothing where it is no date.
std::optional<std::int64_t> parse_date(std::string_view value);

/// Ids without their angle brackets, of Message-ID, In-Reply-To and References.
std::vector<std::string> parse_message_ids(std::string_view value);

/// `Amy Lee <amy@example.com>`, for people to read.
std::string shown(const MailAddress& address);
std::string shown(const std::vector<MailAddress>& addresses);

}  // namespace gmail
