// Where Google's descriptions and what people report of the live service differ, or where the service may choose: one
// switch each, set with POST /_emulator/behaviour, so that a client can be tried against every one.
#pragma once

#include <string>

namespace krux::test::gmail {

struct Behaviour {
  // What is said above the quota: "403_user" (userRateLimitExceeded), "403_rate" (rateLimitExceeded) or "429".
  std::string quota_answer = "403_user";
  // Whether Retry-After goes with it; the time stands in the message in any case.
  bool quota_retry_after = false;
  // Message-ID of what is sent: "replace" (the one that was given is gone), "replace_and_keep" (it is kept as
  // X-Google-Original-Message-ID) or "replace_invalid" (kept so too, and only what is none is replaced).
  std::string message_id = "replace";
  // Whether TRASH takes a message out of the INBOX. Out of the trash it does not come back there by itself.
  bool trash_leaves_inbox = true;
  // Whether SPAM takes TRASH away, TRASH takes SPAM, and INBOX both of them.
  bool one_place = true;
  // history.list with changes to show begins with a page that has a nextPageToken and no history.
  bool history_empty_page = false;
  // Whether full and metadata give the values of headers with their encoded words decoded ("decoded": the text of the
  // whole value, so that what stands in a name looks as if it stood beside it) or as they stand in the mail ("raw").
  std::string header_values = "decoded";
  // Text parts above this come as an attachment of their own.
  int inline_text_max = 100000;
};

}  // namespace krux::test::gmail
