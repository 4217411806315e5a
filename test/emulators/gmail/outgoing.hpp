// What Gmail makes of a mail that is given to it: to be sent, or to be kept as a draft.
#pragma once

#include "emulators/gmail/methods.hpp"

namespace krux::test::gmail {

struct Outgoing {
  std::string raw;
  std::vector<std::string> recipients;  // addresses of To, Cc and Bcc, in lower case
};

// The mail of a call: uploaded, or base64url in `resource`'s raw. Null with a failure: missing, broken or too large.
std::shared_ptr<const std::string> read_mail(const MethodContext& context, const rapidjson::Value* resource,
                                             MaybeFailure& failure);
// The thread that the caller names in `resource`, if the mail belongs there by its References and its subject.
MaybeFailure read_thread(const MethodContext& context, const rapidjson::Value* resource, const std::string& raw,
                         std::optional<Id>& into);
// Checks recipients, sets the headers that Gmail sets.
MaybeFailure prepare(const MethodContext& context, const std::string& raw, Outgoing& into);
// Of a draft: it may have no recipients, but none that is no address.
MaybeFailure check_recipients(const std::string& raw);
// To the mailboxes of this emulator among the recipients, beside the sender's own.
void deliver(State& state, const Mailbox& sender, const Outgoing& mail, std::int64_t now_ms);
// SENT, and INBOX and UNREAD when it goes to its sender.
Labels labels_of_sent(const Mailbox& sender, const Outgoing& mail);

}  // namespace krux::test::gmail
