// What an adapter's process gives up before the adapter's code runs. docs/isolation.md says what that is worth.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace krux {

struct ProcessLimits {
  std::int64_t memory_mb = 0, open_files = 0;  ///< 0: as they are
};

/// Ends with the parent, no core dumps, no debugger, no new privileges, limits. Keeps open only descriptors below
/// `first_closed`. Before the first thread is started.
void give_up_privileges(const ProcessLimits& limits, unsigned first_closed);

/// No file can be read any more but those of the system's library directories and `directory`. Empty, or why the kernel
/// does not do it, as a sentence.
std::string hide_files(const std::filesystem::path& directory);

enum class Filter {
  kLoading,  ///< no network, no other program or process, nothing written; files can be opened for reading
  kLoaded,   ///< no file can be opened either
};
/// For all threads of this process, for good. Empty, or why the kernel does not do it, as a sentence.
std::string filter_system_calls(Filter filter);

}  // namespace krux
