// A file that is opened once and judged by what was opened: what it is, who may write it, its bytes, its hash.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace krux {

/// What tells one file from another that took its name.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t size = 0, changed_ns = 0;
  bool operator==(const FileIdentity&) const = default;
};

struct CheckedFile {
  std::string problem;  ///< why it must not be used, as a sentence about "it"; the rest is unset then
  std::string bytes, sha256;
  FileIdentity identity;
};

/// By whom a file may be written.
enum class FileWriters {
  kAnybody,
  kOwnUser,  ///< owner_problem()
};

/// A regular file, no symbolic link, of at most `largest` bytes. Never waits for a FIFO's other end.
CheckedFile read_checked_file(const std::filesystem::path& file, std::uintmax_t largest,
                              FileWriters writers = FileWriters::kOwnUser);

/// Of what the path leads to now.
FileIdentity identify(const std::filesystem::path& file);

}  // namespace krux
