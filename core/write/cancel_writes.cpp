#include "core/write/cancel_writes.hpp"

#include <future>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace krux {
namespace {

constexpr std::size_t kPage = 500;  // the most that a list gives

using Answer = std::variant<WriteRecord, Error>;
using Page = std::vector<WriteRecord>;

std::vector<WriteState> open_states() {
  std::vector<WriteState> states;
  for (int i = 0; i < kWriteStates; ++i) {
    if (!has_ended(static_cast<WriteState>(i))) states.push_back(static_cast<WriteState>(i));
  }
  return states;
}

/// Gives `each` page after page of those of the writes that are in these states; the sum of what it returns.
template <class Each>
std::int64_t sum_of_pages(Ledger& ledger, WriteFilter filter, std::vector<WriteState> states, Each each) {
  filter.states = std::move(states);
  filter.limit = kPage;
  for (std::int64_t sum = 0;;) {
    const auto page = ledger.list(filter);
    sum += each(page);
    if (page.size() < kPage) return sum;
    filter.before_write_id = page.back().write_id;
  }
}

/// How many it cancelled. All are asked for before the first is waited for, so that they share commits.
std::int64_t cancel_page(Ledger& ledger, const Page& page, const std::string& who) {
  std::vector<std::future<Answer>> answers;
  for (const auto& write : page) {
    if (!write.cleans.empty()) continue;  // it takes back, as whoever cancels wants it
    const auto promise = std::make_shared<std::promise<Answer>>();
    answers.push_back(promise->get_future());
    ledger.cancel(write.write_id, {}, who, [promise](Answer answer) { promise->set_value(std::move(answer)); });
  }
  std::int64_t cancelled = 0;
  for (auto& future : answers) {
    auto answer = future.get();
    const auto* error = std::get_if<Error>(&answer);
    if (!error) {
      ++cancelled;
    } else if (error->type() != ErrorCode::kCannotCancel) {
      throw Error(*error);
    }
  }
  return cancelled;
}

}  // namespace

CancelledWrites cancel_writes_of(Ledger& ledger, const std::string& agent_id, const std::string& who) {
  WriteFilter of;
  of.agent_id = agent_id;
  return cancel_writes(ledger, of, who);
}

CancelledWrites cancel_writes(Ledger& ledger, const WriteFilter& of, const std::string& who,
                              const std::function<void(const std::vector<WriteRecord>&)>& before) {
  CancelledWrites result;
  const auto cancel_round = [&] {
    return sum_of_pages(
        ledger, of, {WriteState::kPendingApproval, WriteState::kHeld, WriteState::kBuffered, WriteState::kDeadLetter},
        [&](const Page& page) {
          if (before) before(page);
          return cancel_page(ledger, page, who);
        });
  };
  // Until nothing is found: a call that began before the key ended may bring one more, a failed attempt one back.
  while (const auto cancelled = cancel_round()) result.cancelled += cancelled;
  result.left =
      sum_of_pages(ledger, of, open_states(), [](const Page& page) { return static_cast<std::int64_t>(page.size()); });
  return result;
}

}  // namespace krux
