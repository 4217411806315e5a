// Child processes for tests: started, watched line by line, ended by their id.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krux::test {

using std::chrono::milliseconds;

struct Command {
  std::vector<std::string> argv;           // argv[0] is the program; without a slash it is looked for in PATH
  std::map<std::string, std::string> env;  // laid over the inherited environment
  bool inherit_env = true;
  std::string working_directory;  // empty: the caller's
  // What the child reads before its end of file. Absent: stdin stays open for write_stdin() and close_stdin().
  std::optional<std::string> stdin_text = "";
  // SIGKILL to the child when the thread that started it ends, so that no killed test leaves a daemon behind. Only for
  // children that are started by a thread which outlives them.
  bool die_with_parent = true;
};

struct ExitStatus {
  int code = -1;   // what it gave to exit(); -1 when a signal ended it
  int signal = 0;  // the signal that ended it; 0 when it ended itself
  bool ok() const { return code == 0; }
};

enum class Stream { out, err };

// One running child. stdout and stderr are read all the time, so that it never blocks on a full pipe. Every call may
// come from any thread. Destroying it kills the child (SIGKILL) and waits for it.
class Process {
 public:
  // Throws std::system_error when the program cannot be started.
  explicit Process(const Command& command);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const;

  // The next line of the stream that contains `part`, without its newline; lines before it are passed over, and the
  // search of the next call starts after it. Nothing: the time was up, or the stream ended without such a line.
  std::optional<std::string> wait_for_line(std::string_view part, milliseconds timeout = milliseconds(10000),
                                           Stream stream = Stream::out);
  std::string output(Stream stream = Stream::out) const;  // all so far

  bool write_stdin(std::string_view bytes);  // false: the child has closed its end
  void close_stdin();

  // Nothing happens when the child has ended.
  void signal(int number);
  bool running();
  // Nothing: still running after that time. Once it returns a status, output() is complete.
  std::optional<ExitStatus> wait(milliseconds timeout = milliseconds(10000));
  // SIGTERM, and SIGKILL after that time. Returns how it ended.
  ExitStatus stop(milliseconds timeout = milliseconds(5000));

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct Finished {
  ExitStatus status;
  std::string out, err;
};
// Runs to the end. Throws std::runtime_error, with what the child printed, when it takes longer.
Finished run(const Command& command, milliseconds timeout = milliseconds(30000));

}  // namespace krux::test
