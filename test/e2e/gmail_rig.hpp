// The whole chain with Gmail: a mailbox that is connected in a browser.
#pragma once

#include <set>

#include "host_rig.hpp"
#include "support/gmail_emulator.hpp"

namespace krux::test {

inline constexpr const char* kOwner = "agent@example.com";

class GmailRig : public HostRig {
 public:
  // The seed is the three mails below, and the label "Projects/Bridge" (Label_7) that the second one has.
  explicit GmailRig(const RigOptions& options = {});

  void connect_account() override;  // as `kruxos connect` does, without the command
  GmailEmulator& gmail() { return static_cast<GmailEmulator&>(service()); }

  Answer mail(const std::string& subject, const std::string& to = "dora@example.org");
  Answer on(const std::string& capability, const std::string& message_id, const std::string& more = "");
  Answer roll_back(const std::string& write_id);
  std::string upload(const std::string& filename, const std::string& bytes);  // its id
  std::string deliver(const std::string& subject);                            // as somebody else; the message's id

  // What Gmail has, and what agents are shown, as "id subject label label"; the same when the replica is true.
  std::set<std::string> mailbox();
  std::set<std::string> replica();
  bool is_true() { return mailbox() == replica(); }
  std::string labels_of(const std::string& message_id);  // sorted, by name; "none": there is no such message
  // Live mails of that subject that the account has sent.
  std::int64_t sent_of(const std::string& subject);

  std::string invoice, bridge, news;  // ids of the seed

 private:
  explicit GmailRig(const RigOptions& options, const std::shared_ptr<GmailEmulator>& emulator);
};

}  // namespace krux::test
