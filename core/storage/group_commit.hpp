// One writer connection whose callers share commits.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/storage/database.hpp"

namespace krux {

/// Operations of several callers run one after the other, each in its own savepoint, and become durable with one
/// COMMIT: on the writer's thread, or on that of a caller who waits while nobody else has anything to do. An operation
/// that throws is undone alone. When a statement error has ended the whole transaction, the operations of the group are
/// run again from the start. A COMMIT that fails has an unknown outcome: the connection is reopened and asked what
/// became of the group, and until that works nothing more is run. Whoever waits for longer than five seconds is told
/// that it is not known.
class GroupCommit {
 public:
  using Operation = std::function<void(SQLite::Database&)>;
  /// nullptr: it is in, and outlasts what it was to outlast. Otherwise what the operation threw, or krux::Error
  /// DatabaseError. Runs on the thread that has committed; must be quick and must not throw or wait for this
  /// GroupCommit.
  using Done = std::function<void(std::exception_ptr)>;

  /// Opens its own connection. `kind` must outlive this. A large file (is_large()) is not checked for damage.
  GroupCommit(std::filesystem::path file, const DatabaseKind& kind);
  ~GroupCommit();  ///< finishes what is queued
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  /// What the operation must outlast once it is answered. kProcess: the host's end, however it comes, and no power cut;
  /// this costs no wait for the disk, unless others of its group ask for more.
  enum class Outlasts { kPowerCut, kProcess };

  /// Whose thread commits. kCallers: the caller's where nobody is at work, which spares two wake-ups; else the
  /// writer's. It is for those who may wait for a disk: not for a `done`, and not for an event loop.
  enum class Thread { kWriters, kCallers };

  /// `operation` may run more than once and must have no effect outside the database. Any thread.
  void post(Operation operation, Done done, Outlasts outlasts = Outlasts::kPowerCut, Thread thread = Thread::kWriters);

  struct Item {
    Operation operation;
    Done done;
    Outlasts outlasts = Outlasts::kPowerCut;
  };
  /// The same of several, in their order: none stands between them, and one COMMIT takes them unless it must not.
  void post(std::vector<Item> items, Thread thread);

  /// post() from a thread that may wait, and waits: returns what `operation` returned, or throws.
  template <class F>
  auto run(F operation) -> std::invoke_result_t<F, SQLite::Database&>;

  /// `callback` runs each time before its connection is closed (for good, or to be opened again
  /// after a failed COMMIT), and must finalise the statements that its owner prepared on it. Returns a token for
  /// drop_before_close(), after which the callback neither runs nor is running; not from a `done`.
  std::uint64_t before_close(std::function<void()> callback);
  void drop_before_close(std::uint64_t token);

  /// True while commits fail: nothing is accepted until the store works again.
  bool failing() const;

  const std::filesystem::path& file() const;
  const DatabaseKind& kind() const;

  struct State;  ///< group_commit_state.hpp: of the implementation alone

 private:
  std::unique_ptr<State> state_;
};

template <class F>
auto GroupCommit::run(F operation) -> std::invoke_result_t<F, SQLite::Database&> {
  using Result = std::invoke_result_t<F, SQLite::Database&>;
  std::promise<void> finished;
  auto wait = finished.get_future();
  const auto done = [&finished](std::exception_ptr error) {
    if (error) {
      finished.set_exception(error);
    } else {
      finished.set_value();
    }
  };
  if constexpr (std::is_void_v<Result>) {
    post([&operation](SQLite::Database& db) { operation(db); }, done, Outlasts::kPowerCut, Thread::kCallers);
    wait.get();
  } else {
    std::optional<Result> result;
    post([&operation, &result](SQLite::Database& db) { result.emplace(operation(db)); }, done, Outlasts::kPowerCut,
         Thread::kCallers);
    wait.get();
    return std::move(*result);
  }
}

}  // namespace krux
