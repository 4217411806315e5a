// Whom a mail goes to, as agents write it: read strictly, since a mail to somebody else cannot be taken back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headers.hpp"

namespace gmail {

constexpr std::size_t kMostRecipients = 100;  ///< To, Cc and Bcc together

/// RFC 5322 mailboxes separated by commas: `amy@example.com, "Lee, David" <david@example.com>`. `field` names the
/// argument in errors. Blank text gives none. Domains may hold letters, digits and hyphens of any script and come back
/// in their ASCII form (xn--…), which must stand for such a name; the part before the "@" is ASCII: mail services
/// seldom take others. Groups, comments, quoted local parts, domain literals and domains without a dot are refused.
/// Throws ProxyError kInvalid (InvalidInput).
std::vector<MailAddress> parse_recipients(std::string_view field, std::string_view text);

/// Leaves out whom an earlier field names already, whatever the case. Throws where more than kMostRecipients are left,
/// or none at all.
void settle_recipients(std::vector<MailAddress>& to, std::vector<MailAddress>& cc, std::vector<MailAddress>& bcc);

/// Whether it is an address as parse_recipients gives it.
bool is_address(std::string_view address);

}  // namespace gmail
