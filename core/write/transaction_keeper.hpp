// Looks after transactions that are open or being undone: their time, writes that have not gone well, the next undo.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "core/util/clock.hpp"
#include "core/write/ledger.hpp"

namespace krux {

/// Any thread.
class TransactionKeeper {
 public:
  using Done = std::function<void(std::variant<AgentTransaction, Error>)>;

  /// Both must outlive it.
  TransactionKeeper(Ledger& ledger, Clock& clock);
  ~TransactionKeeper();
  TransactionKeeper(const TransactionKeeper&) = delete;
  TransactionKeeper& operator=(const TransactionKeeper&) = delete;

  /// Undoes those that an earlier run of the host has left open, and goes on with those that it was undoing. Before the
  /// first begin(). Throws krux::Error DatabaseError.
  void start();
  /// Who waits is answered with the present state.
  void stop();

  // As those of the ledger.
  void begin(std::string agent_id, std::string session_id, std::int64_t for_ms, Done done);
  void commit(std::string transaction_id, std::string agent_id, Done done);
  /// With the answer of wait().
  void undo(std::string transaction_id, std::string agent_id, std::string reason, std::int64_t timeout_ms, Done done);
  /// Calls back once it is no longer being undone, or after `timeout_ms`, with its present state. `done` runs once, on
  /// any thread, and must not block.
  void wait(std::string transaction_id, std::string agent_id, std::int64_t timeout_ms, Done done);

 private:
  struct Waiter {
    std::string transaction_id, agent_id;
    std::int64_t until_boot_ms;
    Done done;
  };
  /// Shared with callbacks of the ledger, which may come when this is gone.
  struct Signal {
    std::mutex mutex;
    std::condition_variable cv;
    bool stopping = false, woken = false;
    bool at_work = false;  ///< there is one that a change of a write may concern
    std::vector<Waiter> waiters;
    void wake();
    void changed();
    /// False: nobody looks after him any more.
    bool add(Waiter& waiter);
  };
  void work();
  std::int64_t step();
  bool in_its_turn(const std::string& transaction_id, const std::function<void()>& what);
  void answer_waiters();
  std::variant<AgentTransaction, Error> present(const Waiter& waiter);

  Ledger& ledger_;
  Clock& clock_;
  const std::shared_ptr<Signal> signal_ = std::make_shared<Signal>();
  std::set<std::string> left_open_;                  ///< by an earlier run
  std::map<std::string, std::string> looked_at_as_;  ///< those being undone, as they stood at their last step
  std::thread thread_;
  Ledger::Observation changes_;
};

}  // namespace krux
