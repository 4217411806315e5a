// Those who wait until a write has settled, or until their time is over.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/util/clock.hpp"
#include "core/write/ledger.hpp"

namespace krux {

/// Whether nothing more happens to the write within a caller's patience.
bool has_settled(const WriteRecord& write);

/// What is waited for: that the write has settled; that it has ended, whoever has to decide about it and however
/// often it is tried until then; or that it waits for no person's approval any more.
enum class WaitFor { kSettled, kEnded, kDecided };

/// Any thread.
class SettledWaiters {
 public:
  using Done = std::function<void(WriteRecord)>;
  /// Both must outlive it.
  SettledWaiters(Ledger& ledger, Clock& clock);
  ~SettledWaiters();  ///< who still waits is answered with the present state
  SettledWaiters(const SettledWaiters&) = delete;
  SettledWaiters& operator=(const SettledWaiters&) = delete;

  /// Calls back when the write has ended or become unknown, or waits for a retry (dead_letter), at once if it has; or
  /// when `timeout_ms` passed, with its present state. `done` runs once, on any thread, and must not block; its
  /// write_id is empty when there is no such write, and where the wait was given up. `changes` is told of the write as
  /// it stands, and of each change, until then; it may be empty, and must not block. Returns what give_up() takes.
  std::uint64_t wait(const std::string& write_id, std::int64_t timeout_ms, Done done, WaitFor what = WaitFor::kSettled,
                     std::function<void(const WriteRecord&)> changes = {});
  /// Nothing where it is over already.
  void give_up(const std::string& write_id, std::uint64_t waiter);
  /// Who waits for an end or a decision is answered with the present state, now and from now on.
  void end_waiting();

 private:
  struct Waiter {
    std::int64_t until_boot_ms;
    WaitFor what;
    Done done;
    std::uint64_t number;
    std::function<void(const WriteRecord&)> changes;
    bool told = false;  ///< of a change
  };
  using Waiters = std::multimap<std::string, Waiter>;
  std::uint64_t add(const std::string& write_id, std::int64_t timeout_ms, Waiter waiter);
  Waiters::iterator take_out(Waiters::iterator waiter, std::vector<Done>& taken);
  void tell(const WriteRecord& write);
  void tell_first(std::uint64_t waiter, const WriteRecord& write);
  WriteRecord present_state(const std::string& write_id);
  void answer(const std::string& write_id, const WriteRecord& write);
  void watch();
  std::vector<std::pair<std::string, Done>> take_over(std::int64_t now_boot_ms);
  std::int64_t next() const;

  Ledger& ledger_;
  Clock& clock_;
  std::mutex mutex_;
  std::condition_variable cv_;
  Waiters waiters_;
  std::uint64_t next_number_ = 1;
  std::atomic<int> told_{0};                        ///< how many hear of changes
  std::multimap<std::int64_t, std::string> times_;  ///< until_boot_ms -> write_id
  bool stopping_ = false, earlier_ = false, ends_ = false;
  std::thread thread_;
  Ledger::Observation settled_;
};

}  // namespace krux
