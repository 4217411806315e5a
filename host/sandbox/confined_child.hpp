// Starts a program that runs an adapter's code.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>

#include "core/util/descriptor.hpp"
#include "host/sandbox/confinement.hpp"

namespace krux {

/// The descriptor of the socket in the program.
inline constexpr int kChildSocket = 3;

struct ConfinedChild {
  pid_t pid = -1;  ///< the caller's to reap
  std::unique_ptr<Descriptor> socket;
  std::unique_ptr<Descriptor> errors;  ///< what it prints, to be read without blocking
};

/// `program` with `plugin` and the confinement as its arguments; the socket is its descriptor 3, and it gets nothing
/// else of this process. It ends with the thread that calls this. Throws std::system_error.
ConfinedChild start_confined(const std::filesystem::path& program, const std::filesystem::path& plugin,
                             const Confinement& confinement);

}  // namespace krux
