// Comparing an account's replica with its service, by a second sync into a replica of its own. docs/replica-verify.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/account/accounts.hpp"
#include "core/adapter/call_runner.hpp"
#include "core/replica/comparison.hpp"
#include "core/replica/sync_scheduler.hpp"

namespace krux {

struct VerifyOrder {
  std::int64_t records = 1'000;       ///< of the second sync, or a few more; 0: all that the service gives
  std::int64_t limit_ms = 1'800'000;  ///< of each filling of the second replica
};

/// A difference with the members of its JSON that differ.
struct NamedDifference : Difference {
  std::vector<std::string> members;
};

struct Verified {
  bool whole = false;                        ///< all that the service gives was compared
  std::int64_t compared = 0;                 ///< records
  std::int64_t unsettled = 0;                ///< that were otherwise once and not twice: changed meanwhile, most likely
  bool more = false;                         ///< than kMostDifferences: the comparison ended there
  std::vector<NamedDifference> differences;  ///< the same ones twice
  std::int64_t left_out = 0;                 ///< records that the second replica could not take either
  std::vector<SyncProblem> problems;         ///< parts that the second sync could not get
};

/// For one thread, which it blocks. The account's own sync goes on meanwhile, in turn with the second one.
class Verification {
 public:
  struct Parts {
    Clock& clock;
    CallRunner& runner;
    SyncScheduler& scheduler;
    ActiveAccountPtr account;
    /// Not the account's own: what an adapter keeps in memory is of one replica.
    std::shared_ptr<ServiceAdapter> adapter;
    /// An empty one; the one before is gone by then.
    std::function<std::shared_ptr<Replica>()> make_replica;
    std::function<bool()> stop;
  };
  explicit Verification(Parts parts) : parts_(std::move(parts)) {}

  /// Throws krux::Error: ConflictError where the replica is not filled yet, ServiceUnavailable where a sync fails for
  /// good or gets nothing in time, Cancelled where it was stopped, DatabaseError.
  Verified run(const VerifyOrder& order);

 private:
  enum class Filled { kWhole, kEnough, kOutOfTime };
  using Stepped = CallResult<SyncStep>;

  void pass_of_account(std::int64_t limit_ms);
  Filled fill(std::int64_t records, std::int64_t limit_ms);
  Stepped step(bool full, std::int64_t& put);
  void wait(std::int64_t ms, std::int64_t until_boot_ms);
  void must_go_on() const;
  void begin_anew();
  Comparison compare(bool whole);

  Parts parts_;
  std::shared_ptr<Replica> fresh_;
};

}  // namespace krux
