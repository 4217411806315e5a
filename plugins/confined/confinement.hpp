// What a program may see and use: bubblewrap around it, and limits of the kernel.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace confined {

/// Where a confined program is at home: the one place that it writes to, but for /tmp and /dev/shm.
inline constexpr std::string_view kHome = "/workspace";

/// Beside what it names, a program sees the system's programs to read (/usr), and its own processes.
struct Confinement {
  std::string sandbox = "bwrap";      ///< the program that makes it
  std::int64_t memory_mib = 512;      ///< of all its processes together; the kernel holds each of them to it
  std::int64_t processes = 64;        ///< at once; the kernel counts those of the user
  std::int64_t file_mib = 256;        ///< of one file that is written
  int directory = -1;                 ///< a descriptor of what kHome is; -1: 64 MiB of memory, gone with the program
  std::vector<std::string> readable;  ///< absolute paths, to read at the same place
  bool network = false;               ///< the machine's own, with its names and certificates
  /// An absolute path: lines NAME=VALUE as /bin/sh reads them, which only the confined shell does that starts the
  /// program.
  std::string environment_file;
};

/// Throws ProxyError kInvalid, with no effect, for a path that cannot be shown to a program.
void check(const Confinement& confinement);

/// What is to be started so that `words` are confined, in `working_directory` (kHome, or below). The descriptor of
/// kHome is to be 3 where there is one, and that of call_filter() the one behind it, else 3.
std::vector<std::string> words_for(const Confinement& confinement, std::string_view working_directory,
                                   const std::vector<std::string>& words);

}  // namespace confined
