// Mails on their way out: made into a draft once, sent once.
#pragma once

#include <kruxos/adapter.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api_client.hpp"
#include "mail/outgoing_mail.hpp"

namespace gmail {

class Sending {
 public:
  /// All must outlive it.
  Sending(const kruxos::Call& call, const ApiClient& api, const kruxos::Uploads& uploads,
          const kruxos::BufferedWrite& write, std::string_view own)
      : call_(call), api_(api), uploads_(uploads), write_(write), own_(own) {}

  std::string send(const Json& params) const;        ///< email.send, email.reply and email.forward
  std::string make_draft(const Json& params) const;  ///< email.draft
  /// Deletes the drafts that the write's attempts have left, unless somebody has changed one.
  void clean_up() const;
  kruxos::EffectFound find_sent() const;
  kruxos::EffectFound find_draft(const Json& params) const;

 private:
  /// A draft as Gmail has it: its own id stays, its message's changes with its content.
  struct Kept {
    std::string draft_id, message_id;
  };
  /// A mail that is passed on, as Gmail has it.
  struct Original {
    explicit Original(std::string bytes) : raw(std::move(bytes)), mail(raw) {}
    const std::string raw;
    const ParsedMail mail;
  };
  struct Outgoing {
    std::unique_ptr<Original> original;  ///< that the mail borrows from; may be null
    OutgoingMail mail;
    std::string thread_id;
  };
  std::optional<Kept> noted() const;
  void note(const Kept& kept) const;
  /// The draft of this write that an earlier attempt may have left; `edited` is set where it is not as it was made.
  std::optional<Kept> left_behind(bool& edited) const;
  std::vector<std::string> drafts_by_message_id() const;
  /// The draft's message now, understood; nothing where the draft is gone.
  std::optional<Kept> whole(const std::string& draft_id, bool& edited) const;
  void delete_draft(const std::string& draft_id) const;
  std::optional<Kept> present(const Kept& kept) const;
  Kept settled_draft(const Json& params, std::string* result) const;
  Kept create(const Json& params) const;
  Outgoing built(const Json& params) const;
  MessageDraft marked(MessageDraft draft) const;
  Outgoing reply(const Json& params) const;
  Outgoing forwarded(const Json& params) const;
  std::string message_id() const { return message_id_for(write_.write_id, own_); }

  /// {"message_id","thread_id"} of the mail that was sent, where it is found.
  std::optional<std::string> by_message_id() const;
  kruxos::EffectFound among_latest() const;
  bool is_ours(const Json& message) const;

  const kruxos::Call& call_;
  const ApiClient& api_;
  const kruxos::Uploads& uploads_;
  const kruxos::BufferedWrite& write_;
  const std::string_view own_;
};

/// What is refused for good.
kruxos::ProxyError refused(const std::string& sentence);

}  // namespace gmail
