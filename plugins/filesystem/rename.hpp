// renameat2(), which the C library's headers hide from strict C++.
#pragma once
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

namespace filesystem {

/// False with errno.
inline bool rename_at(int from, const std::string& name, int to, const std::string& as, unsigned flags) {
  return syscall(SYS_renameat2, from, name.c_str(), to, as.c_str(), flags) == 0;
}

}  // namespace filesystem
