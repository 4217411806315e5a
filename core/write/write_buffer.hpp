// The durable buffer of writes: what is known of each, and who observes it. Execution is EnhancedWriteExecutor's.
#pragma once

#include <string>

#include "core/write/ledger.hpp"
#include "core/write/open_writes.hpp"
#include "core/write/settled_waiters.hpp"
#include "core/write/standing_approvals.hpp"
#include "core/write/transaction_keeper.hpp"

namespace krux {

struct WriteBuffer {
  /// See Ledger's constructor.
  WriteBuffer(GroupCommit& store, Clock& clock, const std::string& boot_id = machine_boot_id())
      : ledger(store, clock, boot_id),
        open(ledger),
        settled(ledger, clock),
        standing(store, clock),
        transactions(ledger, clock) {}

  Ledger ledger;
  OpenWrites open;
  SettledWaiters settled;
  StandingApprovals standing;
  TransactionKeeper transactions;
};

}  // namespace krux
