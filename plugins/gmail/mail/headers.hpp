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

/// An address list, members of groups included, encoded or not. Encoded words are a part of a name: they are decoded
/// after the addresses are told apart (RFC 2047, 5 and 6.2), so that nobody's name is an address. What is beyond the
/// bounds above is left out from the beginning of an address on; `is_cut` says so.
std::vector<MailAddress> parse_addresses(std::string_view value, bool* is_cut = nullptr);

/// Whom a mail names, and what about.
struct MailHead {
  std::string subject{};
  std::vector<MailAddress> from{}, reply_to{}, to{}, cc{}, bcc{};
  std::vector<std::string> cut{};  ///< of these, the fields that have more addresses than are here: "to", "reply_to"

  bool leaves_out(std::string_view field) const;
};

/// Its lists of addresses by the names that they have everywhere.
struct AddressField {
  const char* name;    ///< "reply_to"
  const char* header;  ///< "Reply-To"
  std::vector<MailAddress> MailHead::*list;
};
inline constexpr AddressField kAddressFields[] = {{"from", "From", &MailHead::from},
                                                  {"reply_to", "Reply-To", &MailHead::reply_to},
                                                  {"to", "To", &MailHead::to},
                                                  {"cc", "Cc", &MailHead::cc},
                                                  {"bcc", "Bcc", &MailHead::bcc}};

/// Reads a field into `head`; `value` as it stands in the mail. What holds no address at all is kept as a name.
void read_address_field(const AddressField& field, std::string_view value, MailHead& head);

/// Unix milliseconds, or nothing where it is no date.
std::optional<std::int64_t> parse_date(std::string_view value);

/// Ids without their angle brackets, of Message-ID, In-Reply-To and References.
std::vector<std::string> parse_message_ids(std::string_view value);

/// `Amy Lee <amy@example.com>`, for people to read. A name that could be read as more than one is in quotes, with
/// backslashes: `"Lee, Amy" <amy@example.com>`.
std::string shown(const MailAddress& address);
std::string shown(const std::vector<MailAddress>& addresses);

}  // namespace gmail
