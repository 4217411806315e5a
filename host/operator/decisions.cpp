#include "host/operator/decisions.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/capability/write_content.hpp"

namespace krux {
namespace {

std::optional<WriteEvent> resolution_of(const std::string& name) {
  if (name == "resend") return WriteEvent::kOperatorResend;
  if (name == "discard") return WriteEvent::kOperatorDiscard;
  if (name == "happened") return WriteEvent::kOperatorHappened;
  return std::nullopt;
}

WriteEvent copy_decision_of(const std::string& name) {
  return name == "release"   ? WriteEvent::kOperatorRelease
         : name == "discard" ? WriteEvent::kOperatorDiscard
                             : WriteEvent::kOperatorHappened;
}

std::future<DecisionOutcome<WriteRecord>> begin_one(Ledger& ledger, const AccountDirectory& accounts,
                                                    const DecisionRequest& asked, const DecisionRequest::Write& write,
                                                    const DecidingOperator& by, const LikeOf& like_of) {
  return begin_decision<WriteRecord>([&](auto done) {
    std::optional<Ledger::Like> like;
    try {
      if (asked.like) like = like_of(write.write_id, *asked.like);
      const auto known = asked.decision == "rollback" ? ledger.get(write.write_id) : std::nullopt;
      if (known) must_be_connected(accounts, *known);
    } catch (const Error& error) {
      return done(Error(error));
    }
    if (asked.held) {
      ledger.decide_copied(write.write_id, copy_decision_of(asked.decision), write.expected_finding, by.who,
                           std::move(done));
    } else if (const auto resolution = resolution_of(asked.decision)) {
      ledger.decide_outcome(write.write_id, *resolution, write.expected_state, by.who, std::move(done));
    } else if (asked.decision == "accept") {
      ledger.accept(write.write_id, write.content_hash, by, std::move(done), std::move(like));
    } else if (asked.decision == "reject") {
      ledger.reject(write.write_id, asked.reason, by.who, std::move(done));
    } else if (asked.decision == "cancel") {
      ledger.cancel(write.write_id, "", by.who, std::move(done));
    } else {
      ledger.roll_back(write.write_id, "", asked.force, by.who,
                       [done = std::move(done)](DecisionOutcome<Submitted> answer) {
                         if (auto* error = std::get_if<Error>(&answer)) return done(std::move(*error));
                         done(std::get<Submitted>(std::move(answer)).write);
                       });
    }
  });
}

}  // namespace

std::vector<std::future<DecisionOutcome<WriteRecord>>> begin_decisions(Ledger& ledger, const AccountDirectory& accounts,
                                                                       const DecisionRequest& asked,
                                                                       const DecidingOperator& by,
                                                                       const LikeOf& like_of) {
  std::vector<std::size_t> order(asked.writes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto admitted = [&](std::size_t at) { return seq_of_id(asked.writes[at].write_id); };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return admitted(a) < admitted(b); });
  // All are begun before the first is waited for, so that they share commits.
  std::vector<std::future<DecisionOutcome<WriteRecord>>> answers(order.size());
  for (const auto at : order) answers[at] = begin_one(ledger, accounts, asked, asked.writes[at], by, like_of);
  return answers;
}

}  // namespace krux
