// Whether a process has anything to do, for tests and benchmarks that drive its clock.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace krux::test {

// How often the process' threads gave up the processor so far; nothing while one of them is not asleep. The same number
// twice: nobody has done anything in between.
std::optional<std::uint64_t> at_rest(pid_t pid);

// The same of a host and its adapters' processes.
std::optional<std::uint64_t> family_at_rest(pid_t pid);

}  // namespace krux::test
