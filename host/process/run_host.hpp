// kruxosd's command line, signals and life.
#pragma once

#include <functional>

#include "core/util/clock.hpp"

namespace krux {

/// The exit code: 0 after an orderly stop, 1 when the host could not start, 2 for a wrong command line. Does not return
/// where an adapter may have been loaded: nothing of one runs behind the host's end.
/// `on_ready` runs once the host serves.
int run_host(int argc, char** argv, Clock& clock, const std::function<void()>& on_ready = {});

}  // namespace krux
