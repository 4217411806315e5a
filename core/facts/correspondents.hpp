// Whom an account has written to, who wrote to it, and what stands in which of its messages: asked of its replica, as
// its definition's `correspondence` says where that stands.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/policy/rules/facts.hpp"
#include "core/replica/replica_reader.hpp"
#include "core/state/text_values.hpp"
#include "core/state/word_runs.hpp"

namespace krux {

/// Of one account, for one thread, as its replica is at the first question. Not known is what the replica cannot tell:
/// it is not filled yet, the definition names nothing, a look-up took too long or failed, or all of them together did.
class Correspondents {
 public:
  explicit Correspondents(const ActiveAccount& account);

  /// Addresses and domains in small letters.
  Truth wrote_to(const std::string& address);
  Truth wrote_to_domain(const std::string& domain);
  Truth heard_from(const std::string& address, std::int64_t before_ms);
  Truth heard_from_domain(const std::string& domain, std::int64_t before_ms);
  /// Whether a message has one of the texts; of `with` (an address, empty: anybody's) among those it is from and to.
  Truth has_message(const std::vector<std::string>& texts, const std::string& with);
  /// Whether a message that old has the value itself, and not as a part of another one; it is looked for among those
  /// that have `part` as it stands there.
  Truth has_value(const TextValue& value, const std::string& part, std::int64_t before_ms);
  /// Whether a message that is from or to the address has the eight words; whether one has that the account has sent
  /// until then. `words` as WordRuns has them.
  Truth has_run(const std::string& words, const std::string& with);
  Truth sent_run(const std::string& words, std::int64_t before_ms);
  /// Whether the message is from or to the address; no where there is no such message.
  Truth has_got(const std::string& address, const std::string& message_id);
  /// Whether the account has sent it, since then.
  Truth was_sent(const std::string& message_id, std::int64_t since_ms);
  /// The first `most` messages that the account has sent since then, oldest first; false: it cannot be told, or not
  /// all.
  bool each_sent(std::int64_t since_ms, std::uint32_t most, const std::function<void(const RowView&)>& on_row);
  /// The account's own address, in small letters; empty where it is none.
  const std::string& own_address() const { return own_; }

 private:
  Condition sent(bool is) const;
  Condition in_texts(const std::vector<std::string>& names, const std::string& text) const;
  std::string as_it_stands(const std::string& address) const;
  Truth exists(std::vector<Condition> all, std::int64_t before_ms);
  bool has_value_of(const RowView& row, const TextValue& value);
  Truth one_has_run(const std::string& words, Condition in, std::int64_t before_ms);
  bool has_run_of(const RowView& row, const WordRun& run);
  /// A body that is cut is no JSON any more, which its readers bear.
  std::string body_of(const RowView& row, const std::string& name);
  /// For one message with all of these, of those that count.
  Query about(std::vector<Condition> all) const;
  /// Of those that fit, whether one is `meant`.
  Truth one_is(const Query& query, const std::function<bool(const RowView&)>& meant);

  const CorrespondenceDefinition& where_;
  std::shared_ptr<ReplicaReader> rows_;  ///< null: nothing is known
  std::string own_;
  const std::chrono::steady_clock::time_point until_;
};

}  // namespace krux
