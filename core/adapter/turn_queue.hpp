// Calls that wait, each in its owner's queue; the queues are served in turn.
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/adapter/lane.hpp"

namespace krux {

/// The queues that have something waiting or running, by name, and in how many lanes.
using QueuesThere = std::map<std::string, std::size_t>;

/// Takes one item of each queue in turn, and within a queue one of each account in turn, in order of arrival; passes
/// over queues and accounts that have as much running as they may. Not synchronised. `Item` is copied and compared.
template <class Item>
class TurnQueue {
 public:
  /// `there`: of all lanes whose queues divide something.
  explicit TurnQueue(LaneLimits limits, std::shared_ptr<QueuesThere> there = std::make_shared<QueuesThere>())
      : limits_(limits), there_(std::move(there)) {}

  /// False: its queue is full.
  bool push(const CallTurn& turn, Item item) {
    if (!turn.queue.empty() && load_of(turn.queue).waiting >= limits_.waiting_of_queue) return false;
    auto& queue = queue_of(turn.queue);
    line_of(queue, turn.account).items.push_back(std::move(item));
    note_waiting(queue);
    return true;
  }

  /// For one whose turn had come already: it is the next of its queue and account.
  void push_front(const CallTurn& turn, Item item) {
    auto& queue = queue_of(turn.queue);
    line_of(queue, turn.account).items.push_front(std::move(item));
    note_waiting(queue);
  }

  /// Whether pop() would give one.
  bool ready() const {
    for (const auto& queue : queues_) {
      if (next_line(queue) != queue.lines.end()) return true;
    }
    return false;
  }

  /// The next one; it counts as running from here on, until end().
  std::optional<Item> pop() {
    for (auto queue = queues_.begin(); queue != queues_.end(); ++queue) {
      const auto found = next_line(*queue);
      if (found == queue->lines.end()) continue;
      const auto line = queue->lines.erase(found, found);  // without constness
      auto item = std::move(line->items.front());
      line->items.pop_front();
      --queue->waiting;
      --waiting_;
      ++queue->running;
      ++queue->computing;
      count_account(line->account, 1);
      // To the end of both rounds.
      if (line->items.empty()) {
        queue->lines.erase(line);
      } else {
        queue->lines.splice(queue->lines.end(), queue->lines, line);
      }
      queues_.splice(queues_.end(), queues_, queue);
      return item;
    }
    return std::nullopt;
  }

  /// One more of this turn may run now.
  bool may_begin(const CallTurn& turn) const {
    const auto* queue = find(turn.queue);
    return (!queue || has_room(*queue)) && account_has_room(turn.account);
  }
  void begin(const CallTurn& turn) {
    auto& queue = queue_of(turn.queue);
    ++queue.running;
    ++queue.computing;
    count_account(turn.account, 1);
  }
  /// `away`: as change() was told of it last.
  void end(const CallTurn& turn, std::optional<CallAway> away = {}) {
    drop(turn, away);
    count_account(turn.account, -1);
  }

  /// One that runs goes, or comes back. While it waits for its account's quota its queue may run another, its account
  /// may not.
  void change(const CallTurn& turn, std::optional<CallAway> before, std::optional<CallAway> now) {
    auto& queue = queue_of(turn.queue);
    if (now != CallAway::kAwaitsQuota) ++queue.running;
    if (!now) ++queue.computing;
    drop(turn, before);
  }

  /// Takes out one that waits.
  void erase(const CallTurn& turn, const Item& item) {
    const auto queue = find_queue(turn.queue);
    if (queue == queues_.end()) return;
    for (auto line = queue->lines.begin(); line != queue->lines.end(); ++line) {
      if (line->account != turn.account) continue;
      const auto erased = std::erase(line->items, item);
      queue->waiting -= erased;
      waiting_ -= erased;
      if (line->items.empty()) queue->lines.erase(line);
      break;
    }
    forget_if_idle(queue);
  }

  /// Takes out all that wait.
  std::vector<Item> drain() {
    std::vector<Item> all;
    for (auto queue = queues_.begin(); queue != queues_.end();) {
      for (auto& line : queue->lines) all.insert(all.end(), line.items.begin(), line.items.end());
      queue->lines.clear();
      queue->waiting = 0;
      forget_if_idle(queue++);
    }
    waiting_ = 0;
    return all;
  }

  struct Load {
    std::size_t running = 0, waiting = 0;
  };
  Load load_of(const std::string& queue) const {
    const auto* known = find(queue);
    return known ? Load{known->running, known->waiting} : Load{};
  }
  std::size_t running_of(const std::string& account) const {
    const auto known = of_account_.find(account);
    return known == of_account_.end() ? 0 : known->second;
  }
  std::size_t waiting() const { return waiting_; }

 private:
  struct Line {
    std::string account;
    std::deque<Item> items;
  };
  /// Known as long as it has something that waits or runs.
  struct Queue {
    std::string name;
    std::list<Line> lines;  ///< the next to be served first; none is empty
    std::size_t waiting = 0, running = 0, computing = 0;
  };
  using Queues = std::list<Queue>;

  typename Queues::iterator find_queue(const std::string& name) {
    auto at = queues_.begin();
    while (at != queues_.end() && at->name != name) ++at;
    return at;
  }
  const Queue* find(const std::string& name) const {
    for (const auto& queue : queues_) {
      if (queue.name == name) return &queue;
    }
    return nullptr;
  }
  Queue& queue_of(const std::string& name) {
    const auto known = find_queue(name);
    if (known != queues_.end()) return *known;
    if (divides()) ++(*there_)[name];
    return queues_.emplace_back(Queue{name, {}});
  }
  static Line& line_of(Queue& queue, const std::string& account) {
    for (auto& line : queue.lines) {
      if (line.account == account) return line;
    }
    return queue.lines.emplace_back(Line{account, {}});
  }

  bool divides() const { return limits_.divided || limits_.computing_of_queue != LaneLimits::kNone; }
  bool has_room(const Queue& queue) const {
    return queue.name.empty() || (queue.running < running_of_queue() && queue.computing < computing_of_queue());
  }
  /// As many as each of those that are there may have running.
  std::size_t running_of_queue() const {
    return limits_.divided ? part(limits_.running_of_queue, queues_.size()) : limits_.running_of_queue;
  }
  std::size_t computing_of_queue() const { return part(limits_.computing_of_queue, there_->size()); }
  static std::size_t part(std::size_t all, std::size_t of) { return of > 0 ? (all - 1) / of + 1 : all; }
  bool account_has_room(const std::string& account) const {
    return account.empty() || running_of(account) < limits_.running_of_account;
  }
  typename std::list<Line>::const_iterator next_line(const Queue& queue) const {
    if (!has_room(queue)) return queue.lines.end();
    auto line = queue.lines.begin();
    while (line != queue.lines.end() && !account_has_room(line->account)) ++line;
    return line;
  }

  /// A queue that has just got something to do comes last in the round.
  void note_waiting(Queue& queue) {
    if (queue.waiting++ == 0) queues_.splice(queues_.end(), queues_, find_queue(queue.name));
    ++waiting_;
  }
  void drop(const CallTurn& turn, std::optional<CallAway> away) {
    const auto queue = find_queue(turn.queue);
    if (away == CallAway::kAwaitsQuota) return;
    --queue->running;
    if (!away) --queue->computing;
    forget_if_idle(queue);
  }
  void count_account(const std::string& account, int by) {
    if (account.empty()) return;
    const auto known = of_account_.try_emplace(account, 0).first;
    by > 0 ? ++known->second : --known->second;
    if (known->second == 0) of_account_.erase(known);
  }
  void forget_if_idle(typename Queues::iterator queue) {
    if (queue->waiting > 0 || queue->running > 0) return;
    if (divides()) {
      const auto known = there_->find(queue->name);
      if (--known->second == 0) there_->erase(known);
    }
    queues_.erase(queue);
  }

  const LaneLimits limits_;
  const std::shared_ptr<QueuesThere> there_;
  Queues queues_;  ///< the next to be served first
  std::map<std::string, std::size_t> of_account_;
  std::size_t waiting_ = 0;
};

}  // namespace krux
