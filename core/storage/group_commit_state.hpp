// The inside of GroupCommit: who runs a group, and what becomes of one whose COMMIT failed (group_commit_settle.cpp).
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/storage/group_commit.hpp"
#include "core/storage/statement.hpp"
#include "core/util/error.hpp"

namespace krux {

struct GroupCommit::State {
  struct Member {
    Item item;
    std::exception_ptr error{};
  };
  using Group = std::vector<Member>;

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
  void post(Group group, Thread committer);
  void serve();
  bool has_work() const { return !busy && (unsettled || !queue.empty()); }
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  Group take_group(std::unique_lock<std::mutex>& lock);
  void gather(std::unique_lock<std::mutex>& lock);
  void checkpoint();
  bool begin_on_callers_thread();
  void run_on_callers_thread(Group group) noexcept;
  int process(Group& group);
  void wait_for_disk(const Group& group);
  void requeue(Group& group);
  bool run_operations(Group& group);
  bool run_alone(Member& member);
  bool run_one(Member& member);
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
  // Of whoever is busy.
  std::unique_ptr<SQLite::Database> db;
  std::optional<Statement> begin, savepoint, release, mark, end;
  std::int64_t marker = 0;  ///< of the last group that is known to be in
  bool waits = true;        ///< commits wait for the disk
  bool unchecked = false;   ///< the log has grown since the last checkpoint
  std::size_t last_group = 0;
  std::chrono::steady_clock::duration last_commit{};

  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Member> queue;
  bool busy = false;  ///< a group runs: on the writer's thread or on a caller's
  struct Unsettled {
    Group group;
    int commit_code;
  };
  std::optional<Unsettled> unsettled;  ///< a caller's, which the writer's thread has to find the outcome of
  std::size_t alone = 0;               ///< that many at the front are run in groups of one
  bool stopping = false;
  std::atomic<bool> failing = false;

  std::mutex closing_mutex;  ///< held while the callbacks run
  std::map<std::uint64_t, std::function<void()>> closing;
  std::uint64_t next_closing = 1;
  std::thread thread;
};

/// To each its own error, or else `failure`; nullptr: it is in.
void answer(GroupCommit::State::Group& group, const std::exception_ptr& failure);
std::exception_ptr not_accepted();
Error gone(const std::filesystem::path& file);

}  // namespace krux
