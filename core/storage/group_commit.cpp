#include "core/storage/group_commit.hpp"

#include <SQLiteCpp/Exception.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/storage/sqlite_error.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"

namespace krux {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t kLargestGroup = 128;
constexpr std::size_t kManyCallers = 8;
constexpr auto kGatherStep = 100us;
constexpr auto kIdleBeforeCheckpoint = 1s;
constexpr auto kLongestSuspense = 5s;  // then whoever waits is told that it is not known
constexpr auto kFirstRetry = 20ms, kLongestRetry = std::chrono::milliseconds(1s);

struct Item {
  GroupCommit::Operation operation;
  GroupCommit::Done done;
  std::exception_ptr error{};
};

using Group = std::vector<Item>;

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

void answer(Group& group, const std::exception_ptr& failure) {
  for (auto& item : group) item.done(item.error ? item.error : failure);
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

std::exception_ptr not_known() {
  return std::make_exception_ptr(Error(
      "DatabaseError",
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

struct GroupCommit::State {
  State(std::filesystem::path f, const DatabaseKind& k) : file(std::move(f)), kind(k) {
    reopen(is_large(file));
    thread = std::thread([this] { serve(); });
  }
  ~State() {
    {
      const std::lock_guard guard(mutex);
      stopping = true;
    }
    wake.notify_all();
    thread.join();
    close();
  }

  void close();
  void reopen(bool skip_check);
  void serve();
  Group take_group();
  void gather(std::unique_lock<std::mutex>& lock);
  void checkpoint();
  void process(Group group);
  void requeue(Group& group);
  bool run_operations(Group& group);
  bool run_one(Item& item);
  int commit(std::int64_t number);
  void settle(Group& group, int commit_code);
  bool settle_once(std::int64_t expected, std::optional<bool>& was_in);
  void set_failing();
  void refuse_queued();

  bool in_place() const;

  const std::filesystem::path file;
  const DatabaseKind& kind;
  std::atomic<dev_t> device{};  ///< of the open file, with `inode`
  std::atomic<ino_t> inode{};
  std::unique_ptr<SQLite::Database> db;
  std::optional<Statement> begin, savepoint, release, mark, end;
  std::int64_t marker = 0;  ///< of the last group that is known to be in
  bool unchecked = false;   ///< the log has grown since the last checkpoint
  std::size_t last_group = 0;
  std::chrono::steady_clock::duration last_commit{};

  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Item> queue;
  std::size_t alone = 0;  ///< that many at the front are run in groups of one
  bool stopping = false;
  std::atomic<bool> failing = false;

  std::mutex closing_mutex;  ///< held while the callbacks run
  std::map<std::uint64_t, std::function<void()>> closing;
  std::uint64_t next_closing = 1;
  std::thread thread;
};

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
  for (Group group = take_group(); !group.empty(); group = take_group()) process(std::move(group));
}

/// The next operations; none when there is nothing left and the end was asked for.
Group GroupCommit::State::take_group() {
  std::unique_lock lock(mutex);
  const auto something = [this] { return stopping || !queue.empty(); };
  if (unchecked && !wake.wait_for(lock, kIdleBeforeCheckpoint, something)) {
    lock.unlock();
    checkpoint();
    lock.lock();
  }
  wake.wait(lock, something);
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

void GroupCommit::State::process(Group group) {
  if (!in_place()) {
    spdlog::error("{}", gone(file).what());
    return answer(group, std::make_exception_ptr(gone(file)));
  }
  try {
    begin->run();
  } catch (const Error&) {
    answer(group, std::current_exception());
    return;
  }
  if (!run_operations(group)) {
    if (group.size() == 1) return answer(group, nullptr);
    return requeue(group);
  }
  const auto start = std::chrono::steady_clock::now();
  const int code = commit(marker + 1);
  last_commit = std::chrono::steady_clock::now() - start;
  last_group = group.size();
  if (code == SQLITE_OK) return answer(group, nullptr);
  settle(group, code);
}

/// The whole transaction is gone, and with it operations that had succeeded: all start again, one by one, so that the
/// one that does this takes no other with it.
void GroupCommit::State::requeue(Group& group) {
  const std::lock_guard guard(mutex);
  alone = group.size();
  for (auto item = group.rbegin(); item != group.rend(); ++item) {
    queue.push_front({std::move(item->operation), std::move(item->done)});
  }
}

/// False: a statement's error has ended the transaction. A single operation's error then stands in its item.
bool GroupCommit::State::run_operations(Group& group) {
  for (auto& item : group) {
    if (!run_one(item)) return false;
  }
  return true;
}

bool GroupCommit::State::run_one(Item& item) {
  auto* const handle = db->getHandle();
  const auto in_transaction = [&] { return sqlite3_get_autocommit(handle) == 0; };
  try {
    savepoint->run();
    item.operation(*db);
    // An operation that ended the transaction itself is as bad as an error that did.
    if (!in_transaction()) throw database_error("An operation ended the transaction that it shares.");
    release->run();
    return true;
  } catch (...) {
    item.error = current_error(handle);
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

GroupCommit::GroupCommit(std::filesystem::path file, const DatabaseKind& kind)
    : state_(std::make_unique<State>(std::move(file), kind)) {}

GroupCommit::~GroupCommit() = default;

void GroupCommit::post(Operation operation, Done done) {
  {
    const std::lock_guard guard(state_->mutex);
    if (!state_->failing) {
      state_->queue.push_back({std::move(operation), std::move(done)});
      state_->wake.notify_one();
      return;
    }
  }
  done(not_accepted());
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
