// "Approve the like": what a person has approved beforehand, for a while: of one agent, one account and one capability,
// to those whom the write reached that he saw, and asked about for no other reason. In kruxos.db.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/account/account_ref.hpp"
#include "core/storage/reader_pool.hpp"
#include "core/storage/statement.hpp"
#include "core/util/clock.hpp"

namespace krux {

class GroupCommit;

/// Of which writes it is. Lists are sorted.
struct StandingScope {
  std::string agent_id;
  AccountRef account;
  std::string operation;
  std::vector<std::string> reaches;   ///< addresses in small letters; or one text, what the write is about
  std::vector<std::string> asked_by;  ///< the rules for which a person is asked, and the capability whose tier does

  /// Whether a write of that scope is among those: to nobody else, and for no other reason.
  bool covers(const StandingScope& write) const;
};

/// For how long, and how many.
struct StandingTerms {
  std::int64_t for_ms = 0;
  std::int64_t most = 20;

  static constexpr std::int64_t kLongest = 24 * 3'600'000LL, kMost = 1000;
  /// Throws krux::Error InvalidInput.
  void must_be_bounded() const;
};

struct StandingApproval {
  std::string standing_id;
  StandingScope scope;
  std::string write_id, granted_by;  ///< with which write; "operator:<user>"
  std::int64_t granted_at_ms = 0, until_ms = 0, most = 0, used = 0;
};

/// Any thread. Throws krux::Error: DatabaseError.
class StandingApprovals {
 public:
  StandingApprovals(GroupCommit& store, Clock& clock);

  /// Those in force of that agent, account and capability. Nearly always none.
  std::vector<StandingApproval> of(const std::string& agent_id, const AccountRef& account,
                                   const std::string& operation);
  /// Those in force, the newest first.
  std::vector<StandingApproval> list();
  /// What it has let through and has not gone out yet waits for a person then. False: none of that id is in force.
  bool end(const std::string& standing_id, const std::string& who);

  /// As many at a time; more are refused.
  static constexpr std::int64_t kMostInForce = 100;

 private:
  GroupCommit& store_;
  Clock& clock_;
  ReaderPool readers_;
};

// Within a transaction of the ledger's.

/// Makes one, in force from now on. Throws krux::Error ConflictError where there are kMostInForce.
StandingApproval grant_standing(StatementCache& sql, const StandingScope& scope, const StandingTerms& terms,
                                const std::string& write_id, const std::string& who, std::int64_t now_ms);
/// Takes one of its writes; who granted it. Nothing: it is over, used up or ended.
std::optional<std::string> use_standing(StatementCache& sql, const std::string& standing_id, std::int64_t now_ms);
/// In what may be a copy: the original grants by the same approvals what it likes.
void end_all_standing(StatementCache& sql, const std::string& who, std::int64_t now_ms);
/// Somebody has ended it.
bool is_standing_ended(StatementCache& sql, const std::string& standing_id);

}  // namespace krux
