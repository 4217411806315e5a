#include "host/gateway/mcp/task_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/util/error.hpp"
#include "core/write/write.hpp"
#include "host/gateway/mcp/tools.hpp"

namespace krux::mcp {
namespace {

constexpr std::string_view kWaitTask = "wait-";
constexpr std::int64_t kYear10000Ms = 253'402'300'800'000;  ///< which RFC 3339 cannot write
/// A write's window is seconds or a day: who has waited long may ask less often.
constexpr std::int64_t kShortestPollMs = 2'000, kLongestPollMs = 60'000, kPollsOfAWait = 10;

const char* name_of(TaskStatus status) {
  switch (status) {
    case TaskStatus::kWorking:
      return "working";
    case TaskStatus::kInputRequired:
      return "input_required";
    case TaskStatus::kCompleted:
      return "completed";
    case TaskStatus::kFailed:
      return "failed";
    default:
      return "cancelled";
  }
}

const char* inlined_as(TaskStatus status) {
  switch (status) {
    case TaskStatus::kInputRequired:
      return "inputRequests";
    case TaskStatus::kCompleted:
      return "result";
    case TaskStatus::kFailed:
      return "error";
    default:
      return nullptr;
  }
}

void put_task(JsonWriter& out, const TaskView& task) {
  put(out, "taskId", task.id);
  put(out, "status", name_of(task.status));
  if (!task.message.empty()) put(out, "statusMessage", task.message);
  put(out, "createdAt", format_time(task.created_ms));
  put(out, "lastUpdatedAt", format_time(task.updated_ms));
  put_key(out, "ttlMs");
  task.ttl_ms ? out.Int64(*task.ttl_ms) : out.Null();
  put(out, "pollIntervalMs", task.poll_ms);
}

void put_whole(JsonWriter& out, const TaskView& task) {
  put_task(out, task);
  if (const auto* name = inlined_as(task.status)) put_raw(out, name, task.inlined_json);
}

std::optional<std::string> write_of(std::string_view arguments_json, bool must_wait) {
  try {
    const auto arguments = parse_json(arguments_json, "the arguments");
    if (!arguments.IsObject()) return std::nullopt;
    if (must_wait && find_int(arguments, "wait_seconds").value_or(0) <= 0) return std::nullopt;
    auto id = find_string(arguments, "write_id");
    if (!id) id = find_string(arguments, "buffer_id");
    return id && is_write_id(*id) ? std::optional<std::string>(*id) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string created_task(const TaskView& task) {
  return json_object([&](JsonWriter& out) {
    put_result_frame(out, "task");
    put_task(out, task);
  });
}

std::string task_result(const TaskView& task) {
  return json_object([&](JsonWriter& out) {
    put_result_frame(out);
    put_whole(out, task);
  });
}

std::string task_members(const TaskView& task) {
  const auto object = json_object([&](JsonWriter& out) { put_whole(out, task); });
  return object.substr(1, object.size() - 2);
}

void end_with(TaskView& task, RpcOutcome outcome) {
  task.message.clear();
  task.inlined_json.clear();
  task.status = TaskStatus::kCancelled;
  if (auto* result = std::get_if<std::string>(&outcome)) {
    task.status = TaskStatus::kCompleted;
    task.inlined_json = std::move(*result);
  } else if (const auto* error = std::get_if<RpcError>(&outcome)) {
    task.status = TaskStatus::kFailed;
    task.message = error->message;
    task.inlined_json = json_object([&](JsonWriter& out) {
      put(out, "code", std::int64_t{error->code});
      put(out, "message", error->message);
      if (!error->data_json.empty()) put_raw(out, "data", error->data_json);
    });
  }
}

std::string task_id_of(const AwaitedWrite& wait) {
  return fmt::format("{}{}-{}", kWaitTask, wait.begun_ms, wait.write_id);
}

std::optional<AwaitedWrite> awaited_by(std::string_view task_id) {
  if (!task_id.starts_with(kWaitTask)) return std::nullopt;
  const auto of_wait = task_id.substr(kWaitTask.size());
  const auto dash = std::min(of_wait.find('-'), of_wait.size());
  AwaitedWrite wait;
  wait.write_id = of_wait.substr(std::min(dash + 1, of_wait.size()));
  const auto read = std::from_chars(of_wait.data(), of_wait.data() + dash, wait.begun_ms);
  const bool is_one = read.ec == std::errc() && is_write_id(wait.write_id) && task_id_of(wait) == task_id;
  return is_one && wait.begun_ms >= 0 && wait.begun_ms < kYear10000Ms ? std::optional(wait) : std::nullopt;
}

TaskView waiting_task(const AwaitedWrite& wait, std::string_view message, std::int64_t now_ms) {
  TaskView task;
  task.id = task_id_of(wait);
  task.message = fmt::format(
      "{} This task only waits for its end: ending it does not take the write back, proxy__cancel_write does.",
      message);
  task.created_ms = task.updated_ms = wait.begun_ms;
  task.poll_ms = std::clamp((now_ms - wait.begun_ms) / kPollsOfAWait, kShortestPollMs, kLongestPollMs);
  return task;
}

std::optional<std::string> awaited_write(std::string_view arguments_json) {
  return write_of(arguments_json, false);
}

std::optional<std::string> waited_write(std::string_view arguments_json) {
  return write_of(arguments_json, true);
}

}  // namespace krux::mcp
