// A plugin's file as it was opened: who may write it, its bytes, its hash.
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

struct PluginFile {
  std::string problem;  ///< why it must not be loaded, as a sentence; the rest is unset then
  std::string bytes, sha256;
  FileIdentity identity;
};

/// Opens the file once and judges what it opened: a regular file, no symbolic link, owned by root or by the user of
/// this process, writable by nobody else, of at most 256 MiB.
PluginFile open_plugin_file(const std::filesystem::path& file);

/// Why code must not be loaded from `directory`: it, or one of the directories above it, belongs to or can be written
/// by somebody else (a sticky directory such as /tmp may stand above it). Empty when nothing is wrong. `directory` has
/// no symbolic links left.
std::string directory_problem(const std::filesystem::path& directory);

/// Of what the path leads to now.
FileIdentity identify(const std::filesystem::path& file);

}  // namespace krux
