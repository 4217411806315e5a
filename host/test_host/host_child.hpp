// A host in a process of its own, forked off, so that there is no way to give it another configuration.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/util/descriptor.hpp"

namespace krux {

struct ClockTimes {
  std::int64_t wall_ms = 0, boot_ms = 0;
};

/// Ended when the process that forked it ends. One thread, the only one of its process: it forks.
class HostChild {
 public:
  struct Start {
    std::filesystem::path config, log;
    std::vector<std::string> settings;  ///< each KEY=VALUE
    std::optional<ClockTimes> driven;   ///< where its clock stands; nothing: the system's
  };

  /// Returns when it serves. Throws ConfigError with its last words when it does not.
  explicit HostChild(const Start& start);
  ~HostChild();  ///< kill()
  HostChild(const HostChild&) = delete;
  HostChild& operator=(const HostChild&) = delete;

  const std::string& ready_line() const { return ready_; }
  /// Of driven time alone: moves its clock, and returns where it stands then. Throws std::runtime_error when it has
  /// ended.
  ClockTimes advance(std::int64_t ms);

  bool running();
  /// "It was ended by a signal: Aborted."
  std::string end_in_words() const;
  void stop();  ///< in an orderly way; without one where that takes longer than ten seconds
  void kill();  ///< as a power cut: without a word

 private:
  HostChild(const Start& start, std::array<int, 2> in, std::array<int, 2> out);  ///< takes the ends
  std::string read_line(std::int64_t limit_ms);
  bool reap(int flags);

  pid_t pid_ = -1;
  int status_ = 0;
  bool gone_ = false;
  Descriptor in_, out_;
  std::string unread_, ready_;
};

}  // namespace krux
