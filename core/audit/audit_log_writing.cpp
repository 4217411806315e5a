// The thread of the audit log: waits for news, chains, takes what is chained out of the outbox.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/audit/audit_log_state.hpp"
#include "core/storage/database.hpp"
#include "core/util/fault_point.hpp"

namespace krux {
namespace {

constexpr auto kBatch = std::chrono::milliseconds(200), kRetry = std::chrono::milliseconds(1000);
constexpr std::int64_t kMostAtOnce = 1000;

/// By time as far as that goes, without changing the order of either: the outbox's numbers go up, clocks need not.
std::vector<SourcedEntry> merged(const std::vector<SourcedEntry>& a, std::vector<SourcedEntry> b) {
  std::vector<SourcedEntry> all;
  all.reserve(a.size() + b.size());
  auto next = a.begin();
  for (auto& entry : b) {
    for (; next != a.end() && next->at_ms <= entry.at_ms; ++next) all.push_back(*next);
    all.push_back(std::move(entry));
  }
  all.insert(all.end(), next, a.end());
  return all;
}

/// Where a number is missing it was taken out before it was chained: a row that says so stands there instead.
std::vector<SourcedEntry> with_gaps_named(std::vector<SourcedEntry> found, std::int64_t before) {
  std::vector<SourcedEntry> all;
  all.reserve(found.size());
  for (auto& entry : found) {
    if (entry.source != before + 1) {
      all.push_back(own_entry("log.gap", entry.at_ms,
                              fmt::format(R"({{"from":{},"through":{}}})", before + 1, entry.source - 1)));
      spdlog::error("changes {} to {} of the ledger were taken out before they stood in the audit log", before + 1,
                    entry.source - 1);
    }
    before = entry.source;
    all.push_back(std::move(entry));
  }
  return all;
}

}  // namespace

void AuditLog::State::work() {
  std::unique_lock lock(mutex);
  for (bool last = false; !last;) {
    wait(lock);
    last = stopping;
    const auto round = asked;
    news = false;
    lock.unlock();
    const bool written = write_all();
    lock.lock();
    done = round;
    if (written) good = round;
    finished.notify_all();
  }
  // Nobody is left to write what is asked for from here on.
  done = asked;
  finished.notify_all();
}

/// For something to do, and then for more of it: what comes within a fifth of a second costs one wait for the disk.
/// That is the disk's time and no clock's.
void AuditLog::State::wait(std::unique_lock<std::mutex>& lock) {
  const auto pressed = [this] {
    return stopping || asked > done || queue.size() >= std::min<std::size_t>(options.most_waiting, 8192);
  };
  const bool failing = !problem.empty();
  if (!failing) {
    const auto work = [&] { return news || pressed(); };
    // What came before a quiet time is anchored in it.
    is_to_be_anchored() ? (void)clock.wait_until(lock, changed, anchor_due_boot_ms, work) : changed.wait(lock, work);
  }
  const auto urgent = [&] { return failing ? stopping || asked > done : pressed(); };
  changed.wait_for(lock, failing ? kRetry : kBatch, urgent);
}

/// False: the log cannot be written, which was told.
bool AuditLog::State::write_all() {
  try {
    check_place();
    if (!file) open();
    while (write_once()) {
    }
    keep_order();
    set_problem({});
    return true;
  } catch (const std::exception& error) {
    // A file that was moved may be put back: what is open is then still it, with all that was written.
    if (!displaced) file.reset();
    {
      // Whoever wished for another key is told that there is none, and it must not come later.
      const std::lock_guard lock(mutex);
      if (std::exchange(rotation_wanted, false)) rotation_problem = error.what();
    }
    set_problem(error.what());
    return false;
  }
}

void AuditLog::State::open() {
  file.emplace(options.file, clock.wall_ms());
  if (place == FilePlace{}) {
    newest_before_ms = file->last_ms();
    began_boot_ms = clock.boot_ms();
  }
  place = place_of(options.file);
  // A batch whose commit failed may be in all the same.
  if (!pending.empty() && file->head().seq == expected.seq) let_go_of_pending();
  open_key();
  const std::lock_guard lock(mutex);
  log_id = file->log_id();
  head = file->head();
}

/// What goes into a file that was removed is gone with the host, and a new one in its place knows nothing of it.
void AuditLog::State::check_place() {
  displaced = place != FilePlace{} && place_of(options.file) != place;
  if (!displaced) return;
  throw database_error(fmt::format(
      "{} is not the file that this host has opened: it was removed, renamed or replaced. Put it back in its place; "
      "where it is gone, restart the host, which begins a new log and says there that the old one is missing.",
      options.file.string()));
}

/// One batch; whether there may be more.
bool AuditLog::State::write_once() {
  std::vector<SourcedEntry> found;
  {
    auto lease = ledger.lease();
    found = read_outbox(lease.sql(), file->source(), kMostAtOnce);
  }
  const bool left = take_queue();
  if (found.empty() && pending.empty()) return false;
  const bool more = left || found.size() == static_cast<std::size_t>(kMostAtOnce);
  const bool news_of_ledger = !found.empty();
  const auto source = news_of_ledger ? found.back().source : file->source();
  append(with_gaps_named(std::move(found), file->source()), source);
  if (news_of_ledger) forget(source);
  return more;
}

/// Of a ledger that was put back the outbox goes on from an earlier number. Before anything is put there.
void AuditLog::State::compare_with_outbox() {
  auto lease = ledger.lease();
  const auto last = last_in_outbox(lease.sql());
  if (last >= file->source()) return;
  spdlog::warn("the ledger is older than its audit log: rows of the log tell of what the ledger does not know");
  auto body = fmt::format(R"({{"had":{},"has":{}}})", file->source(), last);
  file->append({own_entry("log.restored", clock.wall_ms(), std::move(body))}, last);
  head = file->head();
}

/// Some of it, and none while what was taken before is not in the file: memory has its bound also where the log cannot
/// be written. Whether there is more.
bool AuditLog::State::take_queue() {
  const std::lock_guard lock(mutex);
  if (!pending.empty()) return !queue.empty();
  held = std::min(queue.size(), static_cast<std::size_t>(kMostAtOnce));
  const auto end = queue.begin() + static_cast<std::ptrdiff_t>(held);
  for (auto entry = queue.begin(); entry != end; ++entry)
    static_cast<AuditEntry&>(pending.emplace_back()) = std::move(*entry);
  queue.erase(queue.begin(), end);
  telling = std::exchange(lost, 0);
  if (telling > 0)
    pending.push_back(
        own_entry("log.lost", clock.wall_ms(), fmt::format(R"({{"rows":{},"since_ms":{}}})", telling, lost_since_ms)));
  return !queue.empty();
}

void AuditLog::State::let_go_of_pending() {
  pending.clear();
  const std::lock_guard lock(mutex);
  held = 0;
  telling = 0;
}

void AuditLog::State::append(std::vector<SourcedEntry> from_outbox, std::int64_t source) {
  const auto count = static_cast<std::int64_t>(pending.size() + from_outbox.size());
  expected.seq = file->head().seq + count;
  file->append(merged(pending, std::move(from_outbox)), source);
  let_go_of_pending();
  {
    const std::lock_guard lock(mutex);
    head = file->head();
  }
  check_place();  // before the ledger forgets what it tells of
}

/// Behind it: what stays there for longer is chained no second time.
void AuditLog::State::forget(std::int64_t source) {
  store.post(
      [source, known = file->head()](SQLite::Database& db) {
        StatementCache sql(db.getHandle());
        forget_chained(sql, source, known);
        KRUX_FAULT_POINT("audit.forget.before_commit");
      },
      [](const std::exception_ptr& error) {
        if (!error) KRUX_FAULT_POINT("audit.forget.after_commit");
      },
      GroupCommit::Outlasts::kProcess);
}

void AuditLog::State::set_problem(const std::string& why) {
  const bool was_well = [&] {
    const std::lock_guard lock(mutex);
    return std::exchange(problem, why).empty();
  }();
  if (was_well == why.empty()) return;
  why.empty() ? spdlog::info("the audit log can be written again") : spdlog::error("the audit log fails: {}", why);
  if (options.on_change) options.on_change(why);
}

}  // namespace krux
