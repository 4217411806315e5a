// Where agents' workspaces lie: one directory for each agent below the configured root, opened by descriptors alone.
#pragma once
#include <sys/stat.h>

#include <memory>
#include <string>
#include <string_view>

#include "workspace/descriptor.hpp"
#include "workspace/path.hpp"

namespace workspace {

/// Of one agent. `files` is what it sees as /workspace; it sees nothing of `undo` and `processes`.
struct Home {
  Descriptor directory, files, undo, processes;
};

/// Any thread.
class Homes {
 public:
  /// Throws ProxyError kInvalid: the root is not absolute, cannot be made, belongs to others or can be written by them;
  /// or this kernel lacks openat2().
  explicit Homes(const std::string& root);

  /// Makes what is missing of it. Throws ProxyError: no agent calls, or the directory cannot be used.
  Home of(std::string_view agent) const;

 private:
  Descriptor root_;
};

/// Opens `path` below `directory`: never through a symbolic link, out of it, or into another file system. -1 with
/// errno.
Descriptor open_beneath(int directory, const std::string& path, int flags);
/// Throws ProxyError by what is wrong with the path.
Descriptor open_directory(int files, const std::string& relative, const Path& path);

/// A name as it stands in a directory, links not followed; false where there is none. Throws ProxyError.
bool look_at(int directory, const std::string& name, struct stat& found, const Path& path);

/// For reading, without ever waiting: a regular file. Throws ProxyError for whatever else is there.
Descriptor open_file(int files, const Path& path, struct stat& found);

/// "file", "directory", "symlink", "fifo", "socket", "device".
const char* type_of(mode_t mode);

}  // namespace workspace
