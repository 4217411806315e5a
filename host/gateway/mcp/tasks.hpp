// Reads that go on behind their answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/util/clock.hpp"
#include "host/gateway/json_rpc.hpp"
#include "host/gateway/mcp/client_questions.hpp"
#include "host/gateway/mcp/task_view.hpp"

namespace krux::mcp {

/// What a task is about. Called without a lock, on any thread.
class TaskWork {
 public:
  virtual ~TaskWork() = default;
  /// To some of what was asked; under other names: nothing. Throws krux::Error: one does not fit, and none was taken.
  virtual void take_answers(const ClientAnswers& answers) = 0;
  /// What it has asked may be no longer allowed: it ends then.
  virtual void look_again() = 0;
  /// Nobody wants its end any more.
  virtual void end_work() = 0;
};

/// In memory. Any thread. Of another agent's task everything says that it is not there.
class Tasks {
 public:
  static constexpr std::int64_t kPatienceMs = 500;  ///< so long a call may be answered without a task
  static constexpr std::int64_t kGoodForMs = 3'600'000;
  static constexpr std::int64_t kFetchedMs = 60'000;  ///< it stays once its end is known
  static constexpr std::size_t kPerAgent = 64;
  static constexpr std::size_t kBytesPerAgent = 8u << 20;

  explicit Tasks(Clock& clock);
  ~Tasks();
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  /// Runs `late` once the patience with a call is over.
  void when_late(std::function<void()> late);

  // Of the work. What comes behind the end is passed over.
  /// Nothing: the agent has as many, or as large ones, as he may. `bytes` stay taken until it goes.
  std::optional<TaskView> add(const std::string& agent_id, std::shared_ptr<TaskWork> work, std::size_t bytes,
                              const std::string& message);
  void tell(const std::string& id, const std::string& message);
  /// It waits for its client, or, where `requests_json` is empty, for him no more.
  void ask(const std::string& id, std::string requests_json);
  void end(const std::string& id, RpcOutcome outcome);

  // Of the client.
  bool is_there(const std::string& agent_id, const std::string& id) const;
  std::optional<TaskView> get(const std::string& agent_id, const std::string& id);
  /// False: there is no such task. Throws as TaskWork::take_answers().
  bool update(const std::string& agent_id, const std::string& id, const ClientAnswers& answers);
  bool cancel(const std::string& agent_id, const std::string& id);
  /// `tell` is called with the task as it stands, and at each change, until what is returned goes. Under a lock: it
  /// must not block, and nothing of this. Null: there is no such task.
  std::shared_ptr<void> watch(const std::string& agent_id, const std::string& id,
                              std::function<void(const TaskView&)> tell);

  /// Policies, definitions or connections have changed.
  void look_again();
  /// Of agents that are none any more.
  void end_those_without(const std::function<bool(const std::string& agent_id)>& is_active);
  /// Nothing goes on, and nothing begins any more.
  void end();
  std::size_t size() const;

 private:
  struct Task;
  struct State;
  const std::shared_ptr<State> state_;  ///< shared with the thread that looks at the time, and with watches
};

}  // namespace krux::mcp
