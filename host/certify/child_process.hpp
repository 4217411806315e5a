// A process that the kit starts, and ends again whatever happens.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace krux::certify {

struct ChildCommand {
  std::vector<std::string> argv;    ///< argv[0] without a slash is looked for in PATH
  std::filesystem::path directory;  ///< where it runs; empty: here
  std::filesystem::path log;        ///< its standard error, and its standard output unless `piped`
  bool piped = false;               ///< its standard output is read by read_line()
  std::string input;                ///< all of its standard input, at most 32 KiB
};

/// In a process group of its own, which is ended as a whole. Ends when the thread that started it ends. One thread.
class ChildProcess {
 public:
  /// Throws std::system_error when it cannot be started.
  explicit ChildProcess(const ChildCommand& command);
  ~ChildProcess();  ///< end()
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// The next line of a piped output; nothing at its end, or when `until_ms` (steady clock) has come: then late().
  std::optional<std::string> read_line(std::int64_t until_ms);
  bool late() const { return late_; }

  bool running();
  /// Whether it ends within the time: what it held is closed a little before it has gone.
  bool ends_within(std::int64_t ms);
  /// "It ended with code 3.", "It was ended by a signal: Segmentation fault."; waits up to a second for its end.
  std::string end_in_words();

  /// SIGTERM to it, SIGKILL to its group. Returns when it has gone.
  void end();

 private:
  bool reap(int flags);

  pid_t pid_ = -1;
  int out_ = -1, status_ = 0;
  bool gone_ = false, late_ = false;
  std::string unread_;
};

/// Milliseconds of the steady clock.
std::int64_t steady_ms();

/// The last `bytes` of a log, or as many from where a sanitizer reports an error, fit to be shown.
std::string tail_of(const std::filesystem::path& log, std::size_t bytes);

}  // namespace krux::certify
