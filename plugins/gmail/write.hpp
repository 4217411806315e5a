// Writing to Gmail, looking whether it happened, and undoing it. docs/gmail.md says what each outcome means.
//
// A mail is sent in two steps: a draft is made, its id is kept with the write, and the draft is sent. Gmail deletes a
// draft when it sends it, so that a draft which is still there proves that nothing was sent. Every mail carries a
// Message-ID made of its write's id, and the id itself in a header, since Gmail replaces Message-IDs at times.
#pragma once

#include <kruxos/adapter.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api_client.hpp"
#include "mail/draft.hpp"
#include "model.hpp"

namespace gmail {

inline constexpr const char* kWriteIdHeader = "X-KruxOS-Write-Id";
/// Each costs a request before the first attempt, and Gmail lets a minute have so many.
inline constexpr std::size_t kMostDeletedAtOnce = 100;

class Writer {
 public:
  /// `account_address`: the mailbox's own. `api` must outlive it.
  Writer(const ApiClient& api, const kruxos::Uploads& uploads, std::string account_address)
      : api_(api), uploads_(uploads), own_(std::move(account_address)) {}

  std::string execute(const kruxos::Call& call, const kruxos::BufferedWrite& write) const;
  kruxos::EffectFound find_effect(const kruxos::Call& call, const kruxos::BufferedWrite& write) const;

  void clean_up(const kruxos::Call& call, const kruxos::BufferedWrite& write) const;

  /// Of label changes and deletions: {"sets":[[label id]],"of":{message id: index of its set}}, as they were. Else {}.
  std::string rollback_point(const kruxos::Call& call, const kruxos::BufferedWrite& write) const;
  static bool supports_rollback(std::string_view operation);
  std::string rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) const;
  kruxos::EffectFound find_rollback(const kruxos::Call& call, const kruxos::RollbackRequest& request) const;

 private:
  const ApiClient& api_;
  const kruxos::Uploads uploads_;
  const std::string own_;
};

/// The draft that the parameters of email.send and email.draft say, without an id and without its attachments' bytes.
/// Throws as OutgoingMail does.
MessageDraft composed(const Json& params, std::string_view own_address);

/// Of a reply that is accepted: what people are shown besides its text, and what must still be so when it goes out.
struct ReplyHead {
  std::string to, cc;  ///< addresses, with commas between
  std::string subject;
  bool operator==(const ReplyHead&) const = default;
};
ReplyHead reply_head(const MailHead& original, bool all, std::string_view own_address);

}  // namespace gmail
