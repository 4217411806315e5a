// kruxosd's command line, signals and life.
#pragma once

#include <functional>

#include "core/util/clock.hpp"

namespace krux {

/// Returns the exit code: 0 after an orderly stop, 1 when the host could not start, 2 for a wrong command line.
/// `on_ready` runs once the host serves.
int run_host(int argc, char** argv, Clock& clock, const std::function<void()>& on_ready = {});

}  // namespace krux
