// What is done to a replica between passes.
#include <spdlog/spdlog.h>
#include <sqlite3.h>

#include <chrono>
#include <numeric>

#include "core/replica/index_merge.hpp"
#include "core/replica/refold.hpp"
#include "core/replica/sync_shared.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

constexpr auto kIdleWork = std::chrono::seconds(2);

}  // namespace

bool Replica::idle() {
  shared_->drop_replaced();
  const bool more = work_in_parts();
  const std::lock_guard guard(shared_->mutex);
  auto* const handle = shared_->writer().db();
  sqlite3_busy_timeout(handle, 0);
  sqlite3_wal_checkpoint_v2(handle, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(handle, 5000);
  return more;
}

void Replica::Shared::drop_replaced() {
  const std::lock_guard guard(mutex);
  auto* const handle = writer().db();
  statements->clear();  // one that is open would keep its table
  try {
    drop_old_sets(handle);
  } catch (const Error& error) {
    spdlog::warn("what was replaced in {} is dropped later: {}", file.filename().string(), error.what());
  }
  if (left_out_rows == 0) return;
  LeftOutTable(*statements).sweep_sets();
  count_left_out();
}

/// Each part in a transaction of its own, so that whoever keeps what a read has fetched waits for that one at most.
/// Texts come first: they change the index.
bool Replica::work_in_parts() {
  const auto until = std::chrono::steady_clock::now() + kIdleWork;
  try {
    for (const auto part : {&Shared::refold_rows, &Shared::merge_indexes}) {
      for (bool more = true; more;) {
        if (std::chrono::steady_clock::now() >= until) return true;
        const std::lock_guard guard(shared_->mutex);
        more = ((*shared_).*part)();
      }
    }
    return false;
  } catch (const Error& error) {
    spdlog::warn("texts and search index of {} are brought up to date later: {}", shared_->file.filename().string(),
                 error.what());
    return true;
  }
}

bool Replica::Shared::refold_rows() {
  auto& all = writer();
  const auto& sets = readers->sets();
  for (const auto& tables : {sets.served, sets.filled}) {
    for (const auto& [name, table] : tables->all()) {
      if (refold_some(all, table)) return true;
    }
  }
  return false;
}

bool Replica::Shared::merge_indexes() {
  if (readers->builds()) return false;  // what is read goes when what is built is whole
  auto* const handle = writer().db();
  count_unmerged();
  Transaction transaction(handle);
  bool more = false;
  const bool begins = is_worth_merging(unmerged, records());
  for (const auto& [name, table] : readers->sets().filled->all()) {
    if (!table.spec.searchable) continue;
    if (begins) begin_merge(handle, table.search);
    more = continue_merge(handle, table.search) || more;
  }
  if (begins) set_state("unmerged", unmerged = 0);
  transaction.commit();
  return more;
}

void Replica::Shared::count_unmerged() {
  RecordChanges now;
  {
    const std::lock_guard telling(told);
    now = changes;
  }
  const auto of = [](const RecordChanges& c) { return static_cast<std::int64_t>(c.added + c.updated + c.removed); };
  const auto more = of(now) - of(counted);
  if (more == 0) return;
  counted = now;
  unmerged += more;
  set_state("unmerged", unmerged);
}

std::int64_t Replica::Shared::records() const {
  const std::lock_guard telling(told);
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& one) { return sum + one.second; });
}

}  // namespace krux
