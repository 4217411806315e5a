#include "host/certify/check_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "core/util/text.hpp"
#include "host/certify/worker.hpp"

namespace krux::certify {
namespace {

constexpr std::size_t kShownBytes = 1500;
constexpr std::int64_t kEndMs = 250;

}  // namespace

void Findings::add(CheckResult result) {
  const std::lock_guard lock(mutex_);
  add_(std::move(result));
}

void Findings::fail(const CheckTask& task, const std::string& happened) {
  CheckResult result;
  result.id = task.id;
  result.subject = task.subject;
  result.happened = happened;
  add(std::move(result));
}

void Findings::skip(const CheckTasks& tasks, const std::string& why) {
  for (const auto& task : tasks) {
    CheckResult result;
    result.id = task.id;
    result.subject = task.subject;
    result.outcome = CheckOutcome::kNotChecked;
    result.happened = why;
    add(std::move(result));
  }
}

void Findings::leak(const std::string& where) {
  const std::lock_guard lock(mutex_);
  leaks_.insert(where);
}

void Findings::worker_began() {
  const std::lock_guard lock(mutex_);
  any_worker_ = true;
}

void Findings::cut_short() {
  const std::lock_guard lock(mutex_);
  cut_ = true;
}

std::set<std::string> Findings::leaks() const {
  const std::lock_guard lock(mutex_);
  return leaks_;
}

bool Findings::any_worker() const {
  const std::lock_guard lock(mutex_);
  return any_worker_;
}

bool Findings::cut() const {
  const std::lock_guard lock(mutex_);
  return cut_;
}

std::filesystem::path service_log(const std::filesystem::path& scratch, std::size_t number) {
  return scratch / fmt::format("service-{}.log", number);
}

void CheckRun::run(CheckTasks tasks) {
  while (!tasks.empty() && steady_ms() < parts_.until_ms) run_worker_for(tasks);
  if (!tasks.empty()) findings_.cut_short();
  for (const auto& task : tasks)
    findings_.fail(task,
                   fmt::format("The whole time of {} s was over before it.", parts_.options.time_limit_ms / 1000));
}

/// One worker for as many of the tasks as it gets through: it ends with the first that fails.
void CheckRun::run_worker_for(CheckTasks& tasks) {
  if (!service_.running()) {
    try {
      service_.start();
    } catch (const CheckFailed& failed) {
      findings_.fail(tasks.front(),
                     fmt::format("The fake service had ended and did not start again: {}", failed.what()));
      tasks.pop_front();
      return;
    }
  }
  const auto number = fmt::format("{}-{}", number_, ++workers_);
  const auto scratch = parts_.scratch / fmt::format("worker-{}", number);
  std::filesystem::create_directory(scratch);
  ChildCommand command;
  command.argv = {parts_.worker.string()};
  command.log = parts_.scratch / fmt::format("worker-{}.log", number);
  command.piped = true;
  command.input = to_json(
      WorkerOrder{parts_.manifest.file, scratch, service_.port(), service_.token(), {tasks.begin(), tasks.end()}});
  findings_.worker_began();
  try {
    ChildProcess worker(command);
    if (!take_lines(worker, tasks)) {
      const auto why = worker.late() ? fmt::format("It had not ended after {} s.", parts_.options.check_limit_ms / 1000)
                                     : worker.end_in_words();
      worker.end();
      findings_.fail(tasks.front(),
                     fmt::format("The process that ran the adapter did not come to the check's end. {} It printed: {}",
                                 why, tail_of(command.log, kShownBytes)));
      tasks.pop_front();
    }
  } catch (const std::system_error& error) {
    findings_.fail(tasks.front(), fmt::format("No process could be started for it: {}.", error.what()));
    tasks.pop_front();
  }
  std::ifstream log(command.log, std::ios::binary);
  const std::string printed{std::istreambuf_iterator<char>(log), {}};
  if (printed.find(service_.token()) != std::string::npos) findings_.leak("what it printed");
}

/// The check has ended while the service had: whatever it found is of no use. A service that ends answers nobody a
/// moment before it has gone, so one that is behind a failure gets that moment.
bool CheckRun::keep_service(CheckResult& result) {
  const bool passed = result.outcome == CheckOutcome::kPassed;
  if (!service_.ends_within(passed ? 0 : kEndMs)) return true;
  result.outcome = CheckOutcome::kFailed;
  result.happened = fmt::format("The fake service ended during this check. It printed: {}",
                                tail_of(service_log(parts_.scratch, number_), kShownBytes));
  return false;
}

/// False when the worker went before it had ended the first of the tasks, or took too long for it.
bool CheckRun::take_lines(ChildProcess& worker, CheckTasks& tasks) {
  while (!tasks.empty()) {
    // Some time for loading comes on top; the whole time holds too.
    const auto until = std::min(steady_ms() + parts_.options.check_limit_ms, parts_.until_ms + 5'000);
    for (;;) {
      const auto text = worker.read_line(until);
      if (!text) return false;
      const auto line = read_line(*text);
      if (line.kind == WorkerLine::Kind::kBegins) continue;
      if (line.kind == WorkerLine::Kind::kLeak) {
        findings_.leak(line.text);
        continue;
      }
      if (line.kind == WorkerLine::Kind::kCannot) {
        findings_.skip(tasks, fmt::format("the worker cannot begin: {}", printable(line.text)));
        findings_.cut_short();
        tasks.clear();
        return true;
      }
      auto result = line.check;
      const bool alive = keep_service(result);
      const bool failed = result.outcome == CheckOutcome::kFailed;
      findings_.add(std::move(result));
      tasks.pop_front();
      if (failed || !alive) return true;
      break;
    }
  }
  return true;
}

}  // namespace krux::certify
