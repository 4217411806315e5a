// A message's body: fetched as the mail that it is, and kept as JSON beside the message's record.
#pragma once

#include <kruxos/adapter.hpp>

#include <string>
#include <string_view>

#include "api_client.hpp"
#include "mail/read_mail.hpp"

namespace gmail {

struct Body {
  /// {"body":{"message_id","text_plain","text_html","cached_at"},"attachments":[…]} without the outer braces.
  std::string json;
  std::string text;  ///< that is searched
  /// The beginning of the text where the mail hides some: Gmail's snippet may show that. Else empty.
  std::string snippet;
  MailHead head;  ///< as the mail itself says, within a record's bounds
};

/// The name of the blob beside a message's record: Body::json as it was kept.
inline constexpr const char* kBodyBlob = "body";
/// The member "form" of a body as body_of() makes it. 2: hidden text is told apart, each part has its text.
inline constexpr std::int64_t kBodyForm = 2;

/// The mail as it was sent. Throws ProxyError: MessageNotFound where Gmail no longer has it, BodyFetchFailed where it
/// cannot be had now.
std::string fetch_mail(const kruxos::Call& call, const ApiClient& api, const std::string& id);
/// Throws as fetch_mail() does.
Body fetch_body(const kruxos::Call& call, const ApiClient& api, const std::string& id);

/// Of a mail as it was sent.
Body body_of(std::string_view mail, const std::string& id, std::int64_t now_ms);

/// What a mail's header says, without its body, and Gmail's id of its conversation.
struct FetchedHead {
  MailContent content;  ///< texts and attachments are empty
  std::string thread_id;
};
/// From the mail as it was sent. Throws GmailError.
FetchedHead fetch_head(const kruxos::Call& call, const ApiClient& api, std::string_view id);

/// There is no such message, as a sentence for agents.
kruxos::ProxyError no_such_message(const std::string& id);

}  // namespace gmail
