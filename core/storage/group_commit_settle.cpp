// What becomes of a group whose COMMIT failed.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sqlite3.h>

#include <algorithm>

#include "core/storage/group_commit_state.hpp"
#include "core/storage/sqlite_error.hpp"

namespace krux {
namespace {

using namespace std::chrono_literals;
using Group = GroupCommit::State::Group;
constexpr auto kLongestSuspense = 5s;  // then whoever waits is told that it is not known
constexpr auto kFirstRetry = 20ms, kLongestRetry = std::chrono::milliseconds(1s);

std::exception_ptr not_known() {
  return std::make_exception_ptr(Error(
      ErrorCode::kDatabaseError,
      "The disk failed while this was being stored, and whether it was can be told only when it works again. Look "
      "before you repeat it."));
}

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace

void answer(Group& group, const std::exception_ptr& failure) {
  for (auto& member : group) member.item.done(member.error ? member.error : failure);
}

std::exception_ptr not_accepted() {
  return std::make_exception_ptr(
      database_error("The store cannot commit at present: nothing is accepted. Check the disk; it goes on by itself."));
}

Error gone(const std::filesystem::path& file) {
  return database_error(
      fmt::format("{} was deleted or moved while the host runs, and nothing is accepted. Stop the host, put the file "
                  "back, start it "
                  "again.",
                  file.string()));
}

/// After a COMMIT that failed: finds out what became of the group, answers, and comes back when commits work again.
void GroupCommit::State::settle(Group& group, int commit_code) {
  set_failing();
  const auto failure = std::make_exception_ptr(storage_error(commit_code, file.string(), sqlite3_errstr(commit_code)));
  spdlog::error("commits fail, nothing is accepted until they work: {}", message_of(failure));
  // A full disk refuses a frame before the one that commits is complete: the group is certainly not in, nobody need
  // wait.
  bool answered = (commit_code & 0xff) == SQLITE_FULL;
  if (answered) answer(group, failure);
  const auto tell_at = std::chrono::steady_clock::now() + kLongestSuspense;
  const auto expected = marker + 1;
  std::optional<bool> was_in;
  auto pause = kFirstRetry;
  bool settled = settle_once(expected, was_in);
  while (!settled) {
    refuse_queued();
    if (!answered && std::chrono::steady_clock::now() >= tell_at) {
      answer(group, not_known());
      answered = true;
    }
    std::unique_lock lock(mutex);
    if (wake.wait_for(lock, pause, [this] { return stopping; })) break;
    lock.unlock();
    pause = std::min(pause * 2, kLongestRetry);
    settled = settle_once(expected, was_in);
  }
  if (!answered) answer(group, was_in.value_or(false) ? nullptr : failure);
  // Before anything is accepted again: who is accepted is not to be refused with those.
  refuse_queued();
  if (settled) {
    failing = false;
    spdlog::info("{} can be written again", file.string());
  }
}

/// Reopens, reads the marker, and commits a group of nothing: frames that the failed COMMIT left in the log could
/// otherwise come back to life after a power cut, when their operations have long been answered as failed. That empty
/// group has a number of its own, so that it is never taken for the one that is looked for.
bool GroupCommit::State::settle_once(std::int64_t expected, std::optional<bool>& was_in) {
  try {
    reopen(true);
    if (!was_in) was_in = marker == expected;
    const auto commit_nothing = [&] {
      execute(db->getHandle(), "BEGIN IMMEDIATE");
      return commit(expected + 1) == SQLITE_OK;
    };
    if (commit_nothing()) return true;
    checkpoint();  // there may be no room for the log to grow, but some in the database
    return commit_nothing();
  } catch (const Error&) {
    return false;  // still failing: the caller tries again
  }
}

/// Under the mutex, so that nothing is queued after those who are refused.
void GroupCommit::State::set_failing() {
  const std::lock_guard guard(mutex);
  failing = true;
}

void GroupCommit::State::refuse_queued() {
  Group refused;
  {
    const std::lock_guard guard(mutex);
    alone = 0;
    while (!queue.empty()) {
      refused.push_back(std::move(queue.front()));
      queue.pop_front();
    }
  }
  answer(refused, not_accepted());
}

}  // namespace krux
