// The commands that run, each with its limits: one thread starts, watches and ends them all, so that they end with it,
// and with the host whatever ends that.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "options.hpp"
#include "sandbox.hpp"
#include "workspace/home.hpp"

namespace process {

/// How a command stands.
struct View {
  std::string id, command;
  bool running = true;
  /// "exited", "timeout", "killed", "output_limit", "memory_limit", "process_limit", "workspace_limit"
  std::string ended;
  int exit_code = 0;
  std::string out, errors;  ///< as far as they are kept
  std::int64_t started_at_ms = 0, seconds = 0;
};

struct Order {
  std::string agent, id, shown;  ///< `shown`: the command as its agent wrote it
  Command command;
  std::int64_t limit_seconds = 60, started_at_ms = 0;
  std::function<void(const View&)> when_ended;  ///< on the supervisor's thread; quick, and throws nothing
};

/// Called before the processes are looked at or a workspace is counted, on the supervisor's thread; nobody's in a host.
inline void (*before_look)(const char* at) = nullptr;

/// Any thread.
class Supervisor {
 public:
  explicit Supervisor(Options options);
  ~Supervisor();  ///< kills what runs
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Returns when it runs. Throws ProxyError with no effect: too many run, or there is no sandbox.
  void start(workspace::Home home, Order order);
  /// Nothing where none of this agent has that id, or it has ended and is forgotten.
  std::shared_ptr<const View> find(const std::string& agent, const std::string& id) const;
  std::vector<View> running(const std::string& agent) const;
  /// False: it does not run. It has ended soon after.
  bool kill(const std::string& agent, const std::string& id);
  /// Waits a moment for its end; true when it has ended.
  bool await_end(const std::string& agent, const std::string& id, std::int64_t ms) const;

 private:
  struct Run;
  using RunPtr = std::shared_ptr<Run>;
  struct Starting;
  void work();
  void wake();
  void start_here(Starting& starting);
  void step(Run& run);
  void watch(const std::vector<RunPtr>& runs, bool workspaces);
  bool fills_workspace(const Run& run, std::uint64_t nameless) const;
  void end_for(Run& run, const char* why);
  void end_if_due(const Run& run);
  void finish(const RunPtr& run);
  RunPtr of(const std::string& agent, const std::string& id) const;
  std::size_t count_of(const std::string& agent) const;

  const Options options_;
  workspace::Descriptor wake_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<Starting*> starting_;
  std::vector<RunPtr> runs_;
  bool stopping_ = false, sandbox_known_ = false;
  std::thread thread_;
};

}  // namespace process
