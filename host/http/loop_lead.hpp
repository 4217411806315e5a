// Who runs an event loop: one thread at a time, its leader. Internal to the HTTP server.
#pragma once

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace krux {

class LoopWatch;

/// Requests are handled between two steps of the loop. The leader lends its thread for that: meanwhile the LoopWatch
/// does what the loop has to do, and where it takes long gives the loop another leader. What is on the loop is so
/// touched by one thread at a time, and a request that hangs costs the loop nothing but a thread.
class LoopLead {
 public:
  /// Without a `watch` requests are handled as a part of the loop: they must be brief.
  LoopLead(boost::asio::io_context& context, std::shared_ptr<LoopWatch> watch)
      : context_(context), watch_(std::move(watch)) {}
  ~LoopLead();
  LoopLead(const LoopLead&) = delete;
  LoopLead& operator=(const LoopLead&) = delete;

  /// Starts the first leader. `owner` keeps this and the context alive for threads that come back late.
  void begin(const std::shared_ptr<void>& owner);
  /// The context has been stopped, and so has the watch: nobody leads any more afterwards. A lent thread is waited for
  /// as long as that, then left to itself.
  void end(std::chrono::milliseconds patience);

  enum class Thread { kLent, kKept };
  /// On the loop: what is to be done about a request, behind the step that the loop is at. kKept: with the loop.
  void handle(std::function<void()> request, Thread thread);
  /// On a lent thread: `then` runs on the loop when the thread is back, or has been replaced. False: it is none.
  bool when_back(std::function<void()>& then);
  /// Any thread: the loop has got something to do from elsewhere.
  void has_work();

  /// The watch's thread. Whether the thread is lent.
  bool look();

  /// Whether this thread is lent by a loop, of whichever server.
  static bool thread_is_lent();

 private:
  struct Loan;
  struct Request {
    std::function<void()> handle;
    Thread thread;
  };
  struct Leader {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> left;
  };
  using Lock = std::unique_lock<std::mutex>;

  void lead(std::uint64_t term);
  /// False: another one leads by now.
  bool handle_requests(Lock& on_loop, std::uint64_t term);
  bool lend_for(std::function<void()> request, Lock& on_loop, std::uint64_t term);
  void step_in(std::uint64_t number);
  bool replace_leader(std::uint64_t number);
  /// Returns its term.
  std::uint64_t start_leader();
  void let_go_of_those_who_left();

  static thread_local Loan* loan_;

  boost::asio::io_context& context_;
  const std::shared_ptr<LoopWatch> watch_;
  std::weak_ptr<void> owner_;

  std::mutex mutex_;           ///< held by whoever is on the loop
  std::uint64_t term_ = 0;     ///< of the leader that the loop has now; 0: of none
  std::deque<Request> next_;   ///< the requests that come behind this step
  std::list<Leader> leaders_;  ///< of begin(), the watch and end()
  std::uint64_t terms_ = 0;    ///< as many as were started: also one that comes too late has a term of its own

  std::atomic<std::uint64_t> loan_number_{0};  ///< of the loan that is under way; 0: the thread is not lent
  std::atomic<bool> has_work_{false};
  std::uint64_t loans_ = 0;             ///< the leader's
  std::uint64_t seen_ = 0, looks_ = 0;  ///< the watch's: at which loan, and how often
};

}  // namespace krux
