// Who could write a file whose content the host trusts.
#pragma once

#include <sys/stat.h>

#include <string>

namespace krux {

/// What is wrong with the owner and the mode of a file or directory that nobody but root and the user of this process
/// may write, as the end of a sentence; empty when nothing is. Root's group and the user's own private one may write
/// it.
std::string owner_problem(const struct stat& info);

}  // namespace krux
