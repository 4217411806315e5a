// How many threads there are for which calls.
#pragma once

#include "core/adapter/call_runner.hpp"
#include "core/config/config.hpp"

namespace krux {

/// Of a machine with `cores` processors. docs/threads.md has the numbers.
CallRunner::Options worker_lanes(const Config& config, unsigned cores);

}  // namespace krux
