#include "supervisor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <kruxos/adapter/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>

#include "confined/pace.hpp"
#include "confined/usage.hpp"
#include "workspace/tree.hpp"

namespace process {
namespace {

using confined::Clock;

constexpr std::chrono::milliseconds kLook{100};     ///< how often processes are looked at
constexpr std::chrono::milliseconds kCount{1'000};  ///< how often a workspace is counted

/// False at its end. What is beyond `most` is dropped.
bool read_some(int fd, std::string& into, std::size_t most, bool& too_much) {
  std::array<char, 65536> piece{};
  while (true) {
    const auto got = read(fd, piece.data(), piece.size());
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    const auto room = most - std::min(most, into.size());
    into.append(piece.data(), std::min(room, static_cast<std::size_t>(got)));
    if (static_cast<std::size_t>(got) > room) {
      too_much = true;
      return true;
    }
  }
}

}  // namespace

struct Supervisor::Run {
  Order order;
  workspace::Home home;
  confined::Started started;
  dev_t disk = 0;  ///< the workspace's
  View view;       ///< under the supervisor's mutex
  Clock::time_point began = Clock::now();
  bool out_open = true, errors_open = true;
  std::string ending;  ///< why it was killed
};

struct Supervisor::Starting {
  workspace::Home home;
  Order order;
  bool done = false;
  std::exception_ptr failure;
};

Supervisor::Supervisor(Options options)
    : options_(std::move(options)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this] { work(); }) {}

Supervisor::~Supervisor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
  thread_.join();
}

void Supervisor::wake() {
  const std::uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

void Supervisor::start(workspace::Home home, Order order) {
  Starting starting{std::move(home), std::move(order), false, nullptr};
  std::unique_lock lock(mutex_);
  starting_.push_back(&starting);
  wake();
  changed_.wait(lock, [&] { return starting.done; });
  if (starting.failure) std::rethrow_exception(starting.failure);
}

std::size_t Supervisor::count_of(const std::string& agent) const {
  return static_cast<std::size_t>(
      std::count_if(runs_.begin(), runs_.end(), [&](const RunPtr& run) { return run->order.agent == agent; }));
}

/// On the thread with which it is to die.
void Supervisor::start_here(Starting& starting) {
  confined::refuse_root(options_.allow_root, "services.process.adapter.allow_root");
  const int files = starting.home.files.get();
  if (!sandbox_known_) {
    if (const auto why = confined::why_no_sandbox(confinement_of(options_, files)); !why.empty())
      throw confined::sandbox_missing(why);
    sandbox_known_ = true;
  }
  {
    const std::lock_guard lock(mutex_);
    if (count_of(starting.order.agent) >= static_cast<std::size_t>(options_.running))
      throw kruxos::ProxyError(kruxos::ErrorKind::kRefused,
                               "Too many of your programs run: wait for one of them, or end it with process.kill.")
          .type("TooManyProcesses")
          .no_effect();
  }
  auto run = std::make_shared<Run>();
  run->started = process::start(options_, files, starting.order.command);
  struct stat home {};
  if (fstat(files, &home) == 0) run->disk = home.st_dev;
  run->home = std::move(starting.home);
  run->order = std::move(starting.order);
  run->view.id = run->order.id;
  run->view.command = run->order.shown;
  run->view.started_at_ms = run->order.started_at_ms;
  const std::lock_guard lock(mutex_);
  runs_.push_back(std::move(run));
}

void Supervisor::work() {
  // By the clock and not by what wakes this thread, which programs do as often as they like.
  confined::Pace looks(kLook), counts(kCount);
  while (true) {
    std::vector<RunPtr> runs;
    std::vector<Starting*> starting;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) break;
      runs = runs_;
      starting.swap(starting_);
    }
    for (auto* one : starting) {
      try {
        start_here(*one);
      } catch (...) {
        one->failure = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      one->done = true;
      changed_.notify_all();
    }
    if (!starting.empty()) continue;
    std::vector<pollfd> waits{{wake_.get(), POLLIN, 0}};
    for (const auto& run : runs) {
      waits.push_back({run->started.ended.get(), POLLIN, 0});
      if (run->out_open) waits.push_back({run->started.out.get(), POLLIN, 0});
      if (run->errors_open) waits.push_back({run->started.errors.get(), POLLIN, 0});
    }
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(looks.until_due(Clock::now()));
    (void)poll(waits.data(), waits.size(), runs.empty() ? -1 : static_cast<int>(wait.count()));
    std::uint64_t count = 0;
    (void)!read(wake_.get(), &count, sizeof count);
    for (const auto& run : runs) step(*run);
    const auto now = Clock::now();
    if (!runs.empty() && looks.is_due(now)) watch(runs, counts.is_due(now));
    for (const auto& run : runs) {
      end_if_due(*run);
      finish(run);
    }
  }
  const std::lock_guard lock(mutex_);
  for (const auto& run : runs_) {
    ::kill(run->started.pid, SIGKILL);
    while (waitpid(run->started.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  for (auto* one : starting_) {
    one->failure = std::make_exception_ptr(
        kruxos::ProxyError(kruxos::ErrorKind::kUnavailable, "The host is stopping.").no_effect());
    one->done = true;
  }
  changed_.notify_all();
}

/// Takes what it has said.
void Supervisor::step(Run& run) {
  const std::lock_guard lock(mutex_);
  const auto most = static_cast<std::size_t>(options_.output_kib) << 10;
  bool too_much = false;
  if (run.out_open) run.out_open = read_some(run.started.out.get(), run.view.out, most, too_much);
  if (run.errors_open) run.errors_open = read_some(run.started.errors.get(), run.view.errors, most, too_much);
  const auto passed = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - run.began);
  run.view.seconds = passed.count();
  if (too_much && run.ending.empty()) run.ending = "output_limit";
  if (run.view.seconds >= run.order.limit_seconds && run.ending.empty()) run.ending = "timeout";
}

/// Holds all to what no limit of the kernel counts for several processes together.
void Supervisor::watch(const std::vector<RunPtr>& runs, bool workspaces) {
  struct Share {
    const Run* one = nullptr;
    std::uint64_t nameless = 0;
  };
  std::map<std::string, Share> shares;  // by agent: its runs have one workspace
  if (before_look) before_look("processes");
  const confined::ProcessTable table;
  for (const auto& run : runs) {
    const auto usage = table.below(run->started.pid, run->disk);
    if (usage.processes > options_.processes + confined::kOwnProcesses) end_for(*run, "process_limit");
    if (usage.bytes > options_.memory_mib << 20) end_for(*run, "memory_limit");
    auto& share = shares[run->order.agent];
    share.one = run.get();
    share.nameless += static_cast<std::uint64_t>(usage.nameless_disk);
  }
  if (!workspaces) return;
  for (const auto& [agent, share] : shares) {
    if (!fills_workspace(*share.one, share.nameless)) continue;
    for (const auto& run : runs) {
      if (run->order.agent == agent) end_for(*run, "workspace_limit");
    }
  }
}

bool Supervisor::fills_workspace(const Run& run, std::uint64_t nameless) const {
  if (before_look) before_look("workspace");
  const auto most = options_.workspace_entries + 1;  // with its own directory
  const auto size = workspace::size_of(run.home.directory.get(), "files", most + 1, [] {});
  return !size.is_whole || size.entries > most || size.bytes + nameless > options_.workspace_bytes;
}

void Supervisor::end_for(Run& run, const char* why) {
  const std::lock_guard lock(mutex_);
  if (run.ending.empty()) run.ending = why;
}

/// All that it has started is in the sandbox, and dies with its first process.
void Supervisor::end_if_due(const Run& run) {
  const std::lock_guard lock(mutex_);
  if (!run.ending.empty()) ::kill(run.started.pid, SIGKILL);
}

void Supervisor::finish(const RunPtr& run) {
  const auto exit_code = confined::exit_code_of(run->started.pid);
  if (exit_code < 0) return;
  step(*run);  // what it said last
  View view;
  {
    const std::lock_guard lock(mutex_);
    run->view.exit_code = exit_code;
    run->view.ended = run->ending.empty() ? "exited" : run->ending;
    view = run->view;
  }
  view.running = false;
  run->order.when_ended(view);
  const std::lock_guard lock(mutex_);
  runs_.erase(std::find(runs_.begin(), runs_.end(), run));
  changed_.notify_all();
}

Supervisor::RunPtr Supervisor::of(const std::string& agent, const std::string& id) const {
  const auto at = std::find_if(runs_.begin(), runs_.end(),
                               [&](const RunPtr& run) { return run->order.agent == agent && run->order.id == id; });
  return at == runs_.end() ? nullptr : *at;
}

std::shared_ptr<const View> Supervisor::find(const std::string& agent, const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto run = of(agent, id);
  return run ? std::make_shared<const View>(run->view) : nullptr;
}

std::vector<View> Supervisor::running(const std::string& agent) const {
  const std::lock_guard lock(mutex_);
  std::vector<View> views;
  for (const auto& run : runs_) {
    if (run->order.agent == agent) views.push_back(run->view);
  }
  return views;
}

bool Supervisor::kill(const std::string& agent, const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto run = of(agent, id);
  if (!run) return false;
  if (run->ending.empty()) run->ending = "killed";
  wake();
  return true;
}

bool Supervisor::await_end(const std::string& agent, const std::string& id, std::int64_t ms) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::milliseconds(ms), [&] { return !of(agent, id); });
}

}  // namespace process
