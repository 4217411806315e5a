#include "host/http/loop_lead.hpp"

#include <boost/asio/post.hpp>
#include <limits>
#include <system_error>
#include <utility>

#include "host/http/loop_wait.hpp"
#include "host/http/loop_watch.hpp"

namespace krux {
namespace {

/// A thread that is away for so many looks of the watch, some ten milliseconds, is replaced.
constexpr std::uint64_t kMostLooks = 20;
/// In the place of a loan's number: the leader is back and waits for the loop.
constexpr std::uint64_t kBack = std::numeric_limits<std::uint64_t>::max();
/// What the watch does for a loop before it looks at the others.
constexpr int kMostSteps = 256;

}  // namespace

/// While a thread is lent.
struct LoopLead::Loan {
  LoopLead* loop;
  std::vector<std::function<void()>> then{};
};
thread_local LoopLead::Loan* LoopLead::loan_ = nullptr;

LoopLead::~LoopLead() {
  for (auto& leader : leaders_) leader.thread.detach();  // without end() there are none but those who are late
}

bool LoopLead::thread_is_lent() {
  return loan_ != nullptr;
}

void LoopLead::begin(const std::shared_ptr<void>& owner) {
  owner_ = owner;
  const Lock on_loop(mutex_);
  term_ = start_leader();
}

std::uint64_t LoopLead::start_leader() {
  const auto term = ++terms_;
  auto left = std::make_shared<std::atomic<bool>>(false);
  auto& leader = leaders_.emplace_back();
  leader.left = left;
  try {
    leader.thread = std::thread([this, term, left, alive = owner_.lock()] {
      lead(term);
      *left = true;
    });
  } catch (...) {
    leaders_.pop_back();
    throw;
  }
  return term;
}

void LoopLead::lead(std::uint64_t term) {
  Lock on_loop(mutex_);
  LoopWait wait(LoopWait::places_of_process());
  while (term == term_ && !context_.stopped()) {
    if (watch_) {
      wait.run_one(context_);
    } else {
      context_.run_one();
    }
    if (!handle_requests(on_loop, term)) return;
  }
}

void LoopLead::handle(std::function<void()> request, Thread thread) {
  if (!watch_) return request();
  next_.push_back({std::move(request), thread});
}

bool LoopLead::handle_requests(Lock& on_loop, std::uint64_t term) {
  while (!next_.empty() && term == term_) {
    auto request = std::move(next_.front());
    next_.pop_front();
    if (request.thread == Thread::kKept) {
      request.handle();
    } else if (!lend_for(std::move(request.handle), on_loop, term)) {
      return false;
    }
  }
  return true;
}

bool LoopLead::lend_for(std::function<void()> request, Lock& on_loop, std::uint64_t term) {
  Loan loan{this};
  loan_ = &loan;
  auto number = ++loans_;
  loan_number_ = number;
  watch_->lent();
  on_loop.unlock();
  request();
  request = nullptr;  // what it owned goes while the thread is lent
  loan_ = nullptr;
  // Where another one leads by now, the loop may be its for ever: it is not waited for.
  bool leads = loan_number_.compare_exchange_strong(number, kBack);
  if (leads) {
    on_loop.lock();
    leads = term == term_;
  }
  if (leads) loan_number_ = 0;
  for (auto& then : loan.then) leads ? then() : boost::asio::post(context_, std::move(then));
  if (!leads) has_work();
  return leads;
}

bool LoopLead::when_back(std::function<void()>& then) {
  if (!loan_ || loan_->loop != this) return false;
  loan_->then.push_back(std::move(then));
  return true;
}

void LoopLead::has_work() {
  if (loan_ && loan_->loop == this) return;  // most are back before the watch, which looks in any case
  if (const auto number = loan_number_.load(); number == 0 || number == kBack) return;
  has_work_ = true;
  watch_->hurry();
}

bool LoopLead::look() {
  const auto number = loan_number_.load();
  if (number == 0 || number == kBack) return false;
  if (std::exchange(seen_, number) != number) looks_ = 0;
  const bool hurry = has_work_.exchange(false);
  if (looks_++ == 0 && !hurry) return true;  // most are back before the next look
  const Lock on_loop(mutex_, std::try_to_lock);
  if (!on_loop) return true;  // it has come back, and may have lent its thread again
  if (looks_ > kMostLooks && replace_leader(number)) return false;
  step_in(number);
  return true;
}

/// What waits on the loop is done, unless its leader comes back.
void LoopLead::step_in(std::uint64_t number) {
  for (int steps = 0; steps < kMostSteps && loan_number_ == number && !context_.stopped(); ++steps) {
    if (context_.poll_one() == 0) return;
    for (; !next_.empty(); next_.pop_front()) next_.front().handle();
  }
}

/// False: the leader is back, or the machine has no thread left to give; until it has, the watch steps in.
bool LoopLead::replace_leader(std::uint64_t number) {
  let_go_of_those_who_left();
  std::uint64_t term = 0;
  try {
    term = start_leader();  // which waits for the loop, and leaves unless that becomes its term
  } catch (const std::system_error&) {
    return false;
  }
  if (!loan_number_.compare_exchange_strong(number, 0)) return false;
  term_ = term;
  return true;
}

void LoopLead::let_go_of_those_who_left() {
  leaders_.remove_if([](Leader& leader) {
    if (!*leader.left) return false;
    leader.thread.join();
    return true;
  });
}

void LoopLead::end(std::chrono::milliseconds patience) {
  {
    const Lock on_loop(mutex_);  // the leader has left the loop, or is lent
    term_ = 0;
    loan_number_ = 0;
    next_.clear();
  }
  const auto until = std::chrono::steady_clock::now() + patience;
  while (let_go_of_those_who_left(), !leaders_.empty() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (auto& leader : leaders_) leader.thread.detach();
  leaders_.clear();
}

}  // namespace krux
