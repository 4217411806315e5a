// Calls that go on behind their answer, as clients are told of them: the extension io.modelcontextprotocol/tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/util/json_out.hpp"
#include "host/gateway/json_rpc.hpp"

namespace krux::mcp {

inline constexpr std::string_view kTasksExtension = "io.modelcontextprotocol/tasks";

enum class TaskStatus { kWorking, kInputRequired, kCompleted, kFailed, kCancelled };

inline bool has_ended(TaskStatus status) {
  return status != TaskStatus::kWorking && status != TaskStatus::kInputRequired;
}

/// Times are those of the wall clock, durations count from the beginning.
struct TaskView {
  std::string id;
  TaskStatus status = TaskStatus::kWorking;
  std::string message;
  std::int64_t created_ms = 0, updated_ms = 0;
  std::optional<std::int64_t> ttl_ms;  ///< nothing: as long as there is what it waits for
  std::int64_t poll_ms = 1000;
  std::string inlined_json;  ///< by status: what is asked, the result, or the error
};

/// Begins to watch one: `tell` is called with it as it stands, and when it has changed, until what is returned goes.
using TaskWatch = std::function<std::shared_ptr<void>(std::function<void(const TaskView&)> tell)>;

/// The result that stands in the place of the call's own.
std::string created_task(const TaskView& task);
/// The result of tasks/get.
std::string task_result(const TaskView& task);
/// The same members without the braces around them, for a notification.
std::string task_members(const TaskView& task);
/// Of a call that has been answered: kCompleted or kFailed. RpcSilence: kCancelled.
void end_with(TaskView& task, RpcOutcome outcome);

/// A wait for a write. Its task's id says all there is to know of it.
struct AwaitedWrite {
  std::string write_id;
  std::int64_t begun_ms = 0;
};
std::string task_id_of(const AwaitedWrite& wait);
/// Nothing where the id is none of a wait. Whether there is such a write the ledger knows.
std::optional<AwaitedWrite> awaited_by(std::string_view task_id);
/// How the wait stands. `message`: what the write waits for.
TaskView waiting_task(const AwaitedWrite& wait, std::string_view message, std::int64_t now_ms);

/// Which write the arguments of a wait name; nothing where they name none.
std::optional<std::string> awaited_write(std::string_view arguments_json);
/// The same where they ask to wait for any time at all.
std::optional<std::string> waited_write(std::string_view arguments_json);

}  // namespace krux::mcp
