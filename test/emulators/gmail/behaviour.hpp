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
  // Message-ID of what is sent: "replace_invalid" ones, or "replace_all" of them; the one that was given is kept as
  // X-Google-Original-Message-ID.
  std::string message_id = "replace_invalid";
  // Whether TRASH takes a message out of the INBOX. Out of the trash it does not come back there by itself.
  bool trash_leaves_inbox = true;
  // Text parts above this come as an attachment of their own.
  int inline_text_max = 100000;
};

}  // namespace krux::test::gmail
