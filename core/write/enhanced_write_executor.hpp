// Carries out what the buffer holds: claims what is due, calls the adapter, records the outcome, looks for what may
// have happened. docs/write-path.md tells the story.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/util/clock.hpp"
#include "core/write/outcome.hpp"
#include "core/write/write.hpp"

namespace krux {

class AccountDirectory;
class CallRunner;
class GroupCommit;
class WriteMeters;
class Ledger;

struct ExecutorOptions {
  int concurrency = 4;  ///< attempts and looks under way at once
  RetryPolicy retry;
  std::optional<std::int64_t> call_timeout_ms;  ///< instead of the definition's
  WriteMeters* meters = nullptr;                ///< outlives every call; nullptr: nothing is counted
  /// Called on the executor's thread before it takes anything: makes durable what has to be before that, or throws
  /// krux::Error. May be empty.
  std::function<void()> before_take;
  /// Whether anything may be claimed at present. May be empty.
  std::function<bool()> may_take{};
};

/// Any thread. Everything that is passed by reference must outlive it; the runner, too, must still run while it stops.
class EnhancedWriteExecutor {
 public:
  EnhancedWriteExecutor(GroupCommit& store, Ledger& ledger, AccountDirectory& accounts, CallRunner& runner,
                        Clock& clock, ExecutorOptions options = {});
  ~EnhancedWriteExecutor();  ///< stop(0) unless stopped
  EnhancedWriteExecutor(const EnhancedWriteExecutor&) = delete;
  EnhancedWriteExecutor& operator=(const EnhancedWriteExecutor&) = delete;

  /// Takes over what an earlier run of the host left executing, then begins. Throws krux::Error DatabaseError.
  void start();

  /// No new claims. Calls under way get `wait_ms` of real time to finish; those that do not are ended, their writes
  /// stay `executing` for the next start to take over.
  void stop(std::int64_t wait_ms);

  /// Something has changed that the ledger does not know of: an account was published, an adapter released.
  void wake();

  /// The account's connection works again: its writes that wait for that are tried at once. Waits for the store; throws
  /// krux::Error DatabaseError.
  void connection_restored(const AccountRef& account);

  /// Asks the account's calls under way to end: none of them begins to send anything any more.
  void end_calls(const std::string& service, const std::string& account_id);

  int in_flight() const;
  /// Whether it waits for a time to come, with everything that is due now taken.
  bool asleep() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace krux
