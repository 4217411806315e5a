// What replies and forwards take from the mail that they answer or pass on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "draft.hpp"

namespace gmail {

/// "Re: " before it, unless it says so already, in any of the languages that mail programs write it in: Gmail keeps a
/// reply in its thread by the subject, which stays as it is then.
std::string reply_subject(std::string_view subject);
/// "Fwd: " in the same way.
std::string forward_subject(std::string_view subject);

/// Sets to, cc, subject, in_reply_to and references. A reply goes to Reply-To, or else to From; to all: also to To and
/// Cc. The account's own addresses (any case) are left out, but for a reply to a mail of one's own, which goes to those
/// that it went to. The mail's text is not repeated below the reply: Gmail shows the thread.
/// Throws ProxyError kInvalid where nobody is left that can be written to.
void reply_to(const MailContent& original, bool all, const std::vector<std::string>& own_addresses,
              MessageDraft& draft);

/// Sets subject, text, html and attachments: `note`, the usual lines about the original, its text, its HTML where it
/// has some, and its attachments, as Gmail's own forwards have them. A mail whose text is too long to be repeated goes
/// along as a whole. `original` must live until the draft is written.
void forward(const ParsedMail& original, std::string_view note, MessageDraft& draft);

}  // namespace gmail
