#include "host/gateway/mcp/tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/ids.hpp"

namespace krux::mcp {
namespace {

constexpr std::string_view kReadTask = "read-";
constexpr std::size_t kTaskIdBytes = 16, kLongestMessage = 500;
constexpr const char* kExpired = "Its time is over.";

}  // namespace

struct Tasks::Task {
  std::string agent_id;
  TaskView view;
  std::shared_ptr<TaskWork> work;  ///< null: it has ended
  std::size_t bytes_of_call = 0;
  std::int64_t begun_boot_ms = 0, until_boot_ms = 0;
  std::map<std::uint64_t, std::function<void(const TaskView&)>> watches{};

  std::size_t bytes() const { return bytes_of_call + view.inlined_json.size(); }
};

struct Tasks::State {
  using Works = std::vector<std::shared_ptr<TaskWork>>;

  explicit State(Clock& c) : clock(c) {}

  /// Null where it is not there, or has ended.
  Task* at_work(const std::string& id) {
    const auto at = tasks.find(id);
    return at == tasks.end() || !at->second.work ? nullptr : &at->second;
  }
  /// Nor where its time is over, whether or not that was seen already.
  Task* of(const std::string& agent_id, const std::string& id) {
    const auto at = tasks.find(id);
    const bool is_there = at != tasks.end() && at->second.agent_id == agent_id;
    return is_there && at->second.until_boot_ms > clock.boot_ms() ? &at->second : nullptr;
  }
  void changed(Task& task) const {
    task.view.updated_ms = clock.wall_ms();
    for (const auto& [number, tell] : task.watches) tell(task.view);
  }
  /// What is returned is to be ended, or let go, without the lock.
  std::shared_ptr<TaskWork> finish(Task& task, RpcOutcome outcome, const char* why = nullptr) const {
    auto work = std::exchange(task.work, nullptr);
    end_with(task.view, std::move(outcome));
    if (why) task.view.message = why;
    changed(task);
    return work;
  }
  /// Its client knows the end.
  void keep_a_while(Task& task) {
    const auto until = clock.boot_ms() + kFetchedMs;
    if (until >= task.until_boot_ms) return;
    task.until_boot_ms = until;
    task.view.ttl_ms = until - task.begun_boot_ms;
    wake();
  }
  std::size_t bytes_of(const std::string& agent_id) const {
    std::size_t bytes = 0;
    for (const auto& [id, task] : tasks) bytes += task.agent_id == agent_id ? task.bytes() : 0;
    return bytes;
  }
  std::int64_t next() const {
    auto earliest = late.empty() ? std::numeric_limits<std::int64_t>::max() : late.begin()->first;
    for (const auto& [id, task] : tasks) earliest = std::min(earliest, task.until_boot_ms);
    return earliest;
  }
  template <class IsOver>
  Works take_out(IsOver is_over, const char* why) {
    Works gone;
    for (auto at = tasks.begin(); at != tasks.end();) {
      auto& task = at->second;
      if (!is_over(task)) {
        ++at;
        continue;
      }
      if (task.work) gone.push_back(finish(task, RpcSilence{}, why));
      at = tasks.erase(at);
    }
    return gone;
  }
  void wake() {
    woken = true;
    cv.notify_all();
  }
  void begin(const std::shared_ptr<State>& self) {
    if (!watcher.joinable() && !ended) watcher = std::thread([self] { self->look_at_time(); });
    wake();
  }
  void look_at_time();

  Clock& clock;
  mutable std::mutex mutex;  ///< over what follows
  std::condition_variable cv;
  std::map<std::string, Task> tasks;
  std::multimap<std::int64_t, std::function<void()>> late;
  std::uint64_t last_watch = 0;
  bool ended = false, woken = false;
  std::thread watcher;
};

void Tasks::State::look_at_time() {
  std::unique_lock lock(mutex);
  while (!ended) {
    woken = false;
    if (clock.wait_until(lock, cv, next(), [this] { return ended || woken; })) continue;
    const auto now = clock.boot_ms();
    const auto behind = late.upper_bound(now);
    std::vector<std::function<void()>> due;
    for (auto at = late.begin(); at != behind; ++at) due.push_back(std::move(at->second));
    late.erase(late.begin(), behind);
    auto gone = take_out([now](const Task& task) { return task.until_boot_ms <= now; }, kExpired);
    lock.unlock();
    for (const auto& one : due) one();
    for (const auto& work : gone) work->end_work();
    due.clear();
    gone.clear();
    lock.lock();
  }
}

Tasks::Tasks(Clock& clock) : state_(std::make_shared<State>(clock)) {}

Tasks::~Tasks() {
  end();
}

void Tasks::when_late(std::function<void()> late) {
  const std::lock_guard lock(state_->mutex);
  state_->late.emplace(state_->clock.boot_ms() + kPatienceMs, std::move(late));
  state_->begin(state_);
}

std::optional<TaskView> Tasks::add(const std::string& agent_id, std::shared_ptr<TaskWork> work, std::size_t bytes,
                                   const std::string& message) {
  const std::lock_guard lock(state_->mutex);
  const auto his = std::count_if(state_->tasks.begin(), state_->tasks.end(),
                                 [&](const auto& one) { return one.second.agent_id == agent_id; });
  if (state_->ended || his >= static_cast<std::ptrdiff_t>(kPerAgent) ||
      state_->bytes_of(agent_id) + bytes > kBytesPerAgent)
    return std::nullopt;
  Task task;
  task.agent_id = agent_id;
  task.work = std::move(work);
  task.bytes_of_call = bytes;
  task.begun_boot_ms = state_->clock.boot_ms();
  task.until_boot_ms = task.begun_boot_ms + kGoodForMs;
  task.view.id = kReadTask;
  task.view.id += random_hex(kTaskIdBytes);
  task.view.message = message.substr(0, kLongestMessage);
  task.view.created_ms = task.view.updated_ms = state_->clock.wall_ms();
  task.view.ttl_ms = kGoodForMs;
  auto view = task.view;
  state_->tasks.emplace(view.id, std::move(task));
  state_->begin(state_);
  return view;
}

void Tasks::tell(const std::string& id, const std::string& message) {
  const std::lock_guard lock(state_->mutex);
  auto* task = state_->at_work(id);
  if (!task) return;
  task->view.message = message.substr(0, kLongestMessage);
  state_->changed(*task);
}

void Tasks::ask(const std::string& id, std::string requests_json) {
  const std::lock_guard lock(state_->mutex);
  auto* task = state_->at_work(id);
  if (!task) return;
  task->view.status = requests_json.empty() ? TaskStatus::kWorking : TaskStatus::kInputRequired;
  task->view.inlined_json = std::move(requests_json);
  task->view.message.clear();
  state_->changed(*task);
}

void Tasks::end(const std::string& id, RpcOutcome outcome) {
  std::shared_ptr<TaskWork> over;
  const std::lock_guard lock(state_->mutex);
  auto* task = state_->at_work(id);
  if (!task) return;
  const auto* result = std::get_if<std::string>(&outcome);
  if (result && state_->bytes_of(task->agent_id) + result->size() > kBytesPerAgent)
    outcome =
        rpc_error({ErrorCode::kRateLimited,
                   fmt::format("The read was carried out, but its answer is left out: what is kept of this agent's "
                               "tasks has {} MiB already. Fetch those, and call again in a minute.",
                               kBytesPerAgent >> 20)});
  over = state_->finish(*task, std::move(outcome));
}

bool Tasks::is_there(const std::string& agent_id, const std::string& id) const {
  const std::lock_guard lock(state_->mutex);
  return state_->of(agent_id, id) != nullptr;
}

std::optional<TaskView> Tasks::get(const std::string& agent_id, const std::string& id) {
  const std::lock_guard lock(state_->mutex);
  auto* task = state_->of(agent_id, id);
  if (!task) return std::nullopt;
  if (has_ended(task->view.status)) state_->keep_a_while(*task);
  return task->view;
}

bool Tasks::update(const std::string& agent_id, const std::string& id, const ClientAnswers& answers) {
  std::shared_ptr<TaskWork> work;
  {
    const std::lock_guard lock(state_->mutex);
    const auto* task = state_->of(agent_id, id);
    if (!task) return false;
    work = task->work;
  }
  if (work) work->take_answers(answers);
  return true;
}

bool Tasks::cancel(const std::string& agent_id, const std::string& id) {
  std::shared_ptr<TaskWork> work;
  {
    const std::lock_guard lock(state_->mutex);
    auto* task = state_->of(agent_id, id);
    if (!task) return false;
    state_->keep_a_while(*task);
    if (task->work) work = state_->finish(*task, RpcSilence{});
  }
  if (work) work->end_work();
  return true;
}

std::shared_ptr<void> Tasks::watch(const std::string& agent_id, const std::string& id,
                                   std::function<void(const TaskView&)> tell) {
  const std::lock_guard lock(state_->mutex);
  auto* task = state_->of(agent_id, id);
  if (!task) return nullptr;
  tell(task->view);
  const auto number = ++state_->last_watch;
  task->watches.emplace(number, std::move(tell));
  return {nullptr, [state = state_, id, number](void*) {
            std::function<void(const TaskView&)> gone;
            const std::lock_guard ending(state->mutex);
            const auto at = state->tasks.find(id);
            if (at == state->tasks.end()) return;
            if (auto node = at->second.watches.extract(number)) gone = std::move(node.mapped());
          }};
}

void Tasks::look_again() {
  State::Works asking;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [id, task] : state_->tasks) {
      if (task.work && task.view.status == TaskStatus::kInputRequired) asking.push_back(task.work);
    }
  }
  for (const auto& work : asking) work->look_again();
}

void Tasks::end_those_without(const std::function<bool(const std::string& agent_id)>& is_active) {
  std::set<std::string> agents;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [id, task] : state_->tasks) agents.insert(task.agent_id);
  }
  std::erase_if(agents, is_active);
  State::Works gone;
  {
    const std::lock_guard lock(state_->mutex);
    gone = state_->take_out([&](const Task& task) { return agents.contains(task.agent_id); },
                            "Its agent is none any more.");
  }
  for (const auto& work : gone) work->end_work();
}

void Tasks::end() {
  std::map<std::string, Task> dropped;
  std::multimap<std::int64_t, std::function<void()>> late;
  std::thread watcher;
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
    dropped.swap(state_->tasks);
    late.swap(state_->late);
    watcher = std::move(state_->watcher);
  }
  state_->cv.notify_all();
  // Whoever is told that its time is over may hold the last of what holds this.
  if (watcher.joinable()) watcher.get_id() == std::this_thread::get_id() ? watcher.detach() : watcher.join();
}

std::size_t Tasks::size() const {
  const std::lock_guard lock(state_->mutex);
  return state_->tasks.size();
}

}  // namespace krux::mcp
