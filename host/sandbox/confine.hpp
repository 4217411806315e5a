// What an adapter's process gives up before the adapter's code runs. docs/isolation.md says what that is worth.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/sandbox/confinement.hpp"

namespace krux {

/// Before the first thread is started: everything that a process which loads an adapter gives up. Tells the host on
/// `socket`, the highest descriptor that stays open. What the kernel refused, as sentences; the process ends where that
/// must not be.
std::vector<std::string> confine(const Confinement& wanted, const std::filesystem::path& directory, int socket);

/// Once the adapter is loaded: no file can be opened any more. Empty, or why the kernel does not do it, as a sentence.
std::string confine_loaded();

// Parts of confine().

/// No file can be read any more but those of the system's library directories and `directory`, no signal goes out, and
/// nothing is connected to, as far as the kernel's Landlock knows these, up to `newest_abi`. Empty, or why not.
std::string restrict_by_landlock(const std::filesystem::path& directory, int newest_abi);

enum class Filter {
  kLoading,  ///< what is not listed is refused; files can be opened for reading
  kLoaded,   ///< on top of it: no file can be opened or looked up by its links
};
/// For all threads of this process, for good. Empty, or why the kernel does not do it, as a sentence.
std::string filter_system_calls(Filter filter);
/// Each thread that is started from here on is asked for on the descriptor that is returned; < 0: the kernel does not.
int ask_for_threads();

/// What filter_system_calls() does not refuse whatever the arguments, for tests.
bool is_listed(long call);

}  // namespace krux
