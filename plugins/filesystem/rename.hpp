// Renaming, which is how a change takes effect.
#pragma once
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <kruxos/adapter/error.hpp>

#include <string>

namespace filesystem {

/// False with errno.
inline bool rename_at(int from, const std::string& name, int to, const std::string& as, unsigned flags) {
  return syscall(SYS_renameat2, from, name.c_str(), to, as.c_str(), flags) == 0;
}

/// Of what has happened already: that it may not last says nothing of whether it did.
inline void make_durable(int directory) {
  if (fsync(directory) != 0)
    throw kruxos::ProxyError(kruxos::ErrorKind::kStorage, "The disk of the workspaces could not keep the change.");
}

}  // namespace filesystem
