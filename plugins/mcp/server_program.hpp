// One run of a server that is a program: its pipes, its limits, its end.
#pragma once
#include <poll.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "confined/pace.hpp"
#include "confined/start.hpp"
#include "lines.hpp"

namespace mcp {

struct StdioOptions;

/// Of one thread, with which it dies. Nothing here is waited for, but in the destructor.
class ServerProgram {
 public:
  /// Throws ProxyError with no effect where it cannot be started.
  explicit ServerProgram(const StdioOptions& options);
  ~ServerProgram();  ///< ends it at once
  ServerProgram(const ServerProgram&) = delete;
  ServerProgram& operator=(const ServerProgram&) = delete;

  /// Returns when something has come, or can be written where `writes`, or `wake` is readable; within a tenth of a
  /// second in any case.
  void wait(int wake, bool writes);

  /// How many bytes were taken; 0: no more for now.
  std::size_t put(std::string_view bytes);
  /// Calls `each` for the lines that have come, and hears what it says besides. Some of them at a time.
  void read(const std::function<void(std::string_view)>& each);
  /// Ends it where it uses more than it may, or is still there though it should have ended. At most ten times a second.
  void look();

  /// It may end by itself within a second, at the end of its input.
  void let_end();
  /// It is ended. The first reason stays: "it wrote ...".
  void end_because(const std::string& why);
  /// It was read to its end, and is there no more.
  bool has_ended();
  /// "The server's program has ended (exit code 3): what it said last"; once it has.
  std::string sentence() const;

 private:
  void kill();
  void hold_to_limits();

  const confined::Confinement& confinement_;
  confined::Descriptor input_;
  confined::Started started_;
  Lines lines_;
  LastLine said_;
  confined::Pace looks_;
  bool out_open_ = true, errors_open_ = true;
  std::optional<confined::Clock::time_point> kill_at_;
  std::string why_;
  int exit_code_ = -1;
};

}  // namespace mcp
