// The host's facts: answered from accounts' replicas and from what agents have read. docs/policies.md says what each
// is.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/facts/correspondents.hpp"
#include "core/facts/outgoing.hpp"
#include "core/policy/rules/facts.hpp"
#include "core/state/agent_calls.hpp"
#include "core/state/agent_reads.hpp"

namespace krux {

/// Any thread. What a replica says about a content is looked up once, mostly when the write is admitted, and kept: it
/// is asked again while others wait for a commit.
class FactBook final : public FactSource {
 public:
  struct Limits {
    std::int64_t familiar_after_ms = 24 * 3'600'000LL;
    std::size_t kept = 10'000;           ///< answers of replicas
    std::size_t recipients = 100;        ///< of more nothing is known
    std::size_t codes = 20, links = 20;  ///< likewise
  };
  FactBook(const AgentReads& reads, const AgentCalls& calls, const AccountDirectory& accounts)
      : FactBook(reads, calls, accounts, Limits()) {}
  FactBook(const AgentReads& reads, const AgentCalls& calls, const AccountDirectory& accounts, Limits limits);

  std::vector<std::string> names() const override;
  FactAnswer ask(std::string_view fact, const FactQuestion& question) const override;
  FactAnswer has_called(const RuleCondition& asked, const FactQuestion& question) const override;

 private:
  struct Account {
    std::string name;
    Correspondents& known;
  };

  /// What the write says and passes on; `cut` also where the replica has not all of that.
  Outgoing sent_by(const FactQuestion& question) const;
  std::string in_words(const ReadSource& source) const;
  FactAnswer carries_secret(const FactQuestion& question) const;
  FactAnswer asked_of_replica(std::string_view fact, const FactQuestion& question) const;
  FactAnswer look_up(std::string_view fact, const FactQuestion& question) const;
  FactAnswer new_recipient(const FactQuestion& question, const Account& asked, bool unfamiliar) const;
  Truth wrote_to(const Account& asked, const std::string& address) const;
  FactAnswer look_alike(const FactQuestion& question, Correspondents& known) const;
  FactAnswer quotes_code(const FactQuestion& question, Correspondents& known) const;
  FactAnswer new_link(const FactQuestion& question, Correspondents& known) const;
  FactAnswer was_read(std::string_view fact, const FactQuestion& question) const;
  FactAnswer has_read(const FactQuestion& question) const;

  const AgentReads& reads_;
  const AgentCalls& calls_;
  const AccountDirectory& accounts_;
  const Limits limits_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, FactAnswer, std::less<>> kept_;  ///< by fact, account and content
  mutable std::set<std::string> written_to_;                     ///< account and address
};

}  // namespace krux
