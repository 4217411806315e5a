// The host's facts: answered from accounts' replicas and from what agents have read. docs/policies.md says what each
// is.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/facts/correspondents.hpp"
#include "core/facts/outgoing.hpp"
#include "core/facts/written_domains.hpp"
#include "core/policy/rules/facts.hpp"
#include "core/state/agent_history.hpp"

namespace krux {

/// Any thread. What a replica says about a content is looked up once, mostly when the write is admitted, and kept: it
/// is asked again while others wait for a commit.
class FactBook final : public FactSource {
 public:
  struct Limits {
    std::int64_t familiar_after_ms = 24 * 3'600'000LL;
    std::size_t kept = 10'000;            ///< answers about contents
    std::size_t recipients = 100;         ///< of more nothing is known
    std::size_t codes = 20, values = 20;  ///< likewise; links or phone numbers
    std::int64_t lately_ms = 3'600'000LL;
  };
  FactBook(const AgentHistory& history, const AccountDirectory& accounts) : FactBook(history, accounts, Limits()) {}
  FactBook(const AgentHistory& history, const AccountDirectory& accounts, Limits limits);

  std::vector<std::string> names() const override;
  FactAnswer ask(std::string_view fact, const FactQuestion& question) const override;
  FactAnswer has_called(const RuleCondition& asked, const FactQuestion& question) const override;

 private:
  /// Of which account it is asked.
  struct Asked {
    const ActiveAccount& account;
    std::string name;
    Correspondents& known;
  };
  using HistoryFact = FactAnswer (*)(const FactBook&, const FactQuestion&);
  using ReplicaFact = FactAnswer (*)(const FactBook&, const FactQuestion&, const Asked&);
  /// How the fact is answered by what the agent has read; by the account's copy. nullptr: it is not.
  static HistoryFact history_fact(std::string_view name);
  static ReplicaFact replica_fact(std::string_view name);

  /// What the write says and passes on; `cut` also where the replica has not all of that.
  Outgoing sent_by(const FactQuestion& question) const;
  /// What the copy has of it; empty: nothing.
  static std::string json_of_message(const ActiveAccount& account, const std::string& id);
  static std::string words_of_message(const ActiveAccount& account, const std::string& id);
  std::string in_words(const ReadSource& source) const;
  FactAnswer carries_secret(const FactQuestion& question) const;
  FactAnswer kept_or_looked_up(std::string_view fact, const FactQuestion& question) const;
  FactAnswer look_up(std::string_view fact, const FactQuestion& question) const;
  FactAnswer new_recipient(const FactQuestion& question, const Asked& asked, bool unfamiliar) const;
  Truth wrote_to(const Asked& asked, const std::string& address) const;
  FactAnswer new_domain(const FactQuestion& question, const Asked& asked) const;
  FactAnswer look_alike(const FactQuestion& question, const Asked& asked) const;
  FactAnswer quotes_code(const FactQuestion& question, Correspondents& known) const;
  FactAnswer new_value(const FactQuestion& question, Correspondents& known, ValueKind kind) const;
  FactAnswer sent_lately(const FactQuestion& question, const Asked& asked) const;
  FactAnswer read_recipient(const FactQuestion& question) const;
  FactAnswer read_value(const FactQuestion& question, ValueKind kind) const;
  static FactAnswer unproven_sender(const FactQuestion& question, const Asked& asked);
  FactAnswer has_read(const FactQuestion& question) const;
  FactAnswer read_unproven(const FactQuestion& question) const;
  FactAnswer read_words(const FactQuestion& question, const Asked& asked) const;
  /// Of what was read, whether words of it are new to one of the recipients.
  FactAnswer new_to(const AgentWords::Found& found, const WordRuns& said, const std::vector<std::string>& recipients,
                    const Asked& asked, std::size_t& look_ups) const;

  const AgentHistory& history_;
  const AccountDirectory& accounts_;
  const Limits limits_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, FactAnswer, std::less<>> kept_;  ///< by fact, account and content
  mutable std::set<std::string> written_to_;                     ///< account and address, or "@" and domain
  mutable WrittenDomains written_;
};

}  // namespace krux
