#include "core/storage/group_commit.hpp"

#include <SQLiteCpp/Exception.h>
#include <spdlog/spdlog.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/storage/group_commit_state.hpp"
#include "core/storage/sqlite_error.hpp"

namespace krux {
namespace {

using namespace std::chrono_literals;
using Group = GroupCommit::State::Group;
using Member = GroupCommit::State::Member;
constexpr std::size_t kLargestGroup = 128;
constexpr std::size_t kManyCallers = 8;
constexpr auto kGatherStep = 100us;
constexpr auto kIdleBeforeCheckpoint = 1s;

/// What an operation threw, with SQLite's own exceptions as sentences.
std::exception_ptr current_error(sqlite3* db) {
  try {
    throw;
  } catch (const SQLite::Exception&) {
    return std::make_exception_ptr(storage_error(db));
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

/// Those who keep statements of this connection finalise them first.
void GroupCommit::State::close() {
  const std::lock_guard guard(closing_mutex);
  for (auto& [token, callback] : closing) callback();
  for (auto* statement : {&begin, &savepoint, &release, &mark, &end}) statement->reset();
  db.reset();
}

void GroupCommit::State::reopen(bool skip_check) {
  close();
  if (inode != 0 && !in_place()) throw gone(file);
  db = open_database(file, kind, skip_check);
  waits = kind.full_sync;
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) throw gone(file);
  device = info.st_dev;
  inode = info.st_ino;
  auto* const handle = db->getHandle();
  execute(handle,
          "CREATE TABLE IF NOT EXISTS counters (what TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
          "INSERT OR IGNORE INTO counters (what, n) VALUES ('commit', 0)");
  Statement read(handle, "SELECT n FROM counters WHERE what = 'commit'");
  marker = read.step() ? read.integer(0) : 0;
  // Four times as many pages as by default: the same few are written again and again, and a checkpoint writes each
  // once.
  execute(handle, "PRAGMA wal_autocheckpoint=4000");
  begin.emplace(handle, "BEGIN IMMEDIATE");
  savepoint.emplace(handle, "SAVEPOINT operation");
  release.emplace(handle, "RELEASE operation");
  mark.emplace(handle, "UPDATE counters SET n = ?1 WHERE what = 'commit'");
  end.emplace(handle, "COMMIT");
}

void GroupCommit::State::serve() {
  std::unique_lock lock(mutex);
  for (wait_for_work(lock); has_work(); wait_for_work(lock)) {
    busy = true;
    auto left = std::exchange(unsettled, std::nullopt);
    auto group = left ? std::move(left->group) : take_group(lock);
    lock.unlock();
    const int code = left ? left->commit_code : process(group);
    if (code != SQLITE_OK) settle(group, code);
    lock.lock();
    busy = false;
  }
}

/// Until there is something to do, or there is nothing left and the end was asked for.
void GroupCommit::State::wait_for_work(std::unique_lock<std::mutex>& lock) {
  const auto something = [this] { return has_work() || (stopping && !busy); };
  while (!something()) {
    if (busy) {
      wake.wait_for(lock, kIdleBeforeCheckpoint, something);  // who is busy need not tell that he no longer is
    } else if (!unchecked) {
      wake.wait(lock, [&] { return something() || (!busy && unchecked); });
    } else if (const auto before = marker;
               !wake.wait_for(lock, kIdleBeforeCheckpoint, something) && !busy && before == marker) {
      busy = true;
      lock.unlock();
      checkpoint();
      lock.lock();
      busy = false;
    }
  }
}

/// The next operations. With the mutex held, but while it waits for more of them.
Group GroupCommit::State::take_group(std::unique_lock<std::mutex>& lock) {
  gather(lock);
  Group group;
  const auto size = alone > 0 ? 1 : kLargestGroup;
  if (alone > 0) --alone;
  while (!queue.empty() && group.size() < size) {
    group.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  return group;
}

/// Where there are many callers, or groups that have to be settled, the writer's thread does it.
bool GroupCommit::State::begin_on_callers_thread() {
  const std::lock_guard guard(mutex);
  if (busy || stopping || failing || unsettled || !queue.empty() || last_group >= kManyCallers) return false;
  return busy = true;
}

/// An exception would leave it busy for good: it ends the host, as it does on the writer's thread.
void GroupCommit::State::run_on_callers_thread(Group group) noexcept {
  const bool was_unchecked = unchecked;
  const int code = process(group);
  const std::lock_guard guard(mutex);
  busy = false;
  if (code != SQLITE_OK) unsettled = Unsettled{std::move(group), code};
  if (has_work() || stopping || unchecked != was_unchecked) wake.notify_one();
}

/// Whoever was answered just now may come back at once: where there are many of them and commits take long, a short
/// wait for as long as they keep coming makes one group of what would be two in turn.
void GroupCommit::State::gather(std::unique_lock<std::mutex>& lock) {
  if (last_group < kManyCallers || alone > 0) return;
  const auto until = std::chrono::steady_clock::now() + last_commit / 4;
  std::size_t before = 0;
  while (!stopping && queue.size() > before && queue.size() < kLargestGroup &&
         std::chrono::steady_clock::now() + kGatherStep < until) {
    before = queue.size();
    lock.unlock();
    std::this_thread::sleep_for(kGatherStep);
    lock.lock();
  }
}

/// Brings the log back to nothing while nobody waits. Readers in the middle of something make it a partial one.
void GroupCommit::State::checkpoint() {
  unchecked = false;
  sqlite3_busy_timeout(db->getHandle(), 0);
  sqlite3_wal_checkpoint_v2(db->getHandle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(db->getHandle(), 5000);
}

/// What is committed to a file that was deleted is lost when the host ends.
bool GroupCommit::State::in_place() const {
  struct stat info {};
  return stat(file.c_str(), &info) == 0 && info.st_dev == device && info.st_ino == inode;
}

/// Runs a group and answers it; or says with what code its COMMIT failed, when it is still to be settled.
int GroupCommit::State::process(Group& group) {
  if (!in_place()) {
    spdlog::error("{}", gone(file).what());
    answer(group, std::make_exception_ptr(gone(file)));
    return SQLITE_OK;
  }
  try {
    wait_for_disk(group);
    begin->run();
  } catch (const Error&) {
    answer(group, std::current_exception());
    return SQLITE_OK;
  }
  if (!run_operations(group)) {
    group.size() == 1 ? answer(group, nullptr) : requeue(group);
    return SQLITE_OK;
  }
  const auto start = std::chrono::steady_clock::now();
  const int code = commit(marker + 1);
  last_commit = std::chrono::steady_clock::now() - start;
  last_group = group.size();
  if (code == SQLITE_OK) answer(group, nullptr);
  return code;
}

/// What is written to the log is the kernel's at once, and the disk's with the next commit that waits.
void GroupCommit::State::wait_for_disk(const Group& group) {
  const bool wanted = kind.full_sync && std::any_of(group.begin(), group.end(), [](const Member& member) {
                        return member.item.outlasts == Outlasts::kPowerCut;
                      });
  if (wanted == waits) return;
  execute(db->getHandle(), wanted ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
  waits = wanted;
}

/// The whole transaction is gone, and with it operations that had succeeded: all start again, one by one, so that the
/// one that does this takes no other with it.
void GroupCommit::State::requeue(Group& group) {
  const std::lock_guard guard(mutex);
  alone = group.size();
  for (auto member = group.rbegin(); member != group.rend(); ++member) queue.push_front({std::move(member->item)});
}

/// False: a statement's error has ended the transaction. A single operation's error then stands in its item.
bool GroupCommit::State::run_operations(Group& group) {
  if (group.size() == 1) return run_alone(group.front());
  for (auto& member : group) {
    if (!run_one(member)) return false;
  }
  return true;
}

/// The transaction is its own: it needs no savepoint.
bool GroupCommit::State::run_alone(Member& member) {
  auto* const handle = db->getHandle();
  const auto in_transaction = [&] { return sqlite3_get_autocommit(handle) == 0; };
  try {
    member.item.operation(*db);
    if (!in_transaction()) throw database_error("An operation ended the transaction that it shares.");
    return true;
  } catch (...) {
    member.error = current_error(handle);
  }
  if (in_transaction()) sqlite3_exec(handle, "ROLLBACK", nullptr, nullptr, nullptr);
  return false;
}

bool GroupCommit::State::run_one(Member& member) {
  auto* const handle = db->getHandle();
  const auto in_transaction = [&] { return sqlite3_get_autocommit(handle) == 0; };
  try {
    savepoint->run();
    member.item.operation(*db);
    // An operation that ended the transaction itself is as bad as an error that did.
    if (!in_transaction()) throw database_error("An operation ended the transaction that it shares.");
    release->run();
    return true;
  } catch (...) {
    member.error = current_error(handle);
  }
  if (!in_transaction()) return false;
  const int undone = sqlite3_exec(handle, "ROLLBACK TO operation; RELEASE operation", nullptr, nullptr, nullptr);
  if (undone == SQLITE_OK) return true;
  sqlite3_exec(handle, "ROLLBACK", nullptr, nullptr, nullptr);
  return false;
}

/// Commits under `number`; SQLITE_OK, or why the group is not known to be in.
int GroupCommit::State::commit(std::int64_t number) {
  auto* const handle = db->getHandle();
  try {
    mark->bind_all(number).run();
    end->run();
  } catch (const Error&) {
    const int code = sqlite3_extended_errcode(handle);
    if (sqlite3_get_autocommit(handle) == 0) sqlite3_exec(handle, "ROLLBACK", nullptr, nullptr, nullptr);
    return code == SQLITE_OK ? SQLITE_ERROR : code;
  }
  marker = number;
  unchecked = true;
  return SQLITE_OK;
}

void GroupCommit::State::post(Group group, Thread committer) {
  if (committer == Thread::kCallers && begin_on_callers_thread()) return run_on_callers_thread(std::move(group));
  {
    const std::lock_guard guard(mutex);
    if (!failing) {
      std::move(group.begin(), group.end(), std::back_inserter(queue));
      wake.notify_one();
      return;
    }
  }
  answer(group, not_accepted());
}

GroupCommit::GroupCommit(std::filesystem::path file, const DatabaseKind& kind)
    : state_(std::make_unique<State>(std::move(file), kind)) {}

GroupCommit::~GroupCommit() = default;

void GroupCommit::post(Operation operation, Done done, Outlasts outlasts, Thread thread) {
  State::Group group;
  group.push_back({{std::move(operation), std::move(done), outlasts}});
  state_->post(std::move(group), thread);
}

void GroupCommit::post(std::vector<Item> items, Thread thread) {
  State::Group group;
  group.reserve(items.size());
  for (auto& item : items) group.push_back({std::move(item)});
  state_->post(std::move(group), thread);
}

std::uint64_t GroupCommit::before_close(std::function<void()> callback) {
  const std::lock_guard guard(state_->closing_mutex);
  state_->closing.emplace(state_->next_closing, std::move(callback));
  return state_->next_closing++;
}

void GroupCommit::drop_before_close(std::uint64_t token) {
  const std::lock_guard guard(state_->closing_mutex);
  state_->closing.erase(token);
}

bool GroupCommit::failing() const {
  return state_->failing || !state_->in_place();
}
const std::filesystem::path& GroupCommit::file() const {
  return state_->file;
}
const DatabaseKind& GroupCommit::kind() const {
  return state_->kind;
}

}  // namespace krux
