// Whether the service that took a mail in could prove who has sent it: what its Authentication-Results say (RFC 8601).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gmail {

struct SenderCheck {
  std::string results{};  ///< "dmarc=fail spf=pass"; empty: none of the three was checked
  bool proven = false;
};

/// `value`: of one header field, as it stands in the mail; nothing where another server than `server` says it.
/// `domain`: of the From field, in small letters; empty: of none, or of several. DMARC counts where it says anything;
/// else a signature (DKIM) or an envelope's sender (SPF) that passed and whose domain is that one, or one of them is
/// below the other.
std::optional<SenderCheck> sender_check(std::string_view value, std::string_view server, std::string_view domain);

}  // namespace gmail
