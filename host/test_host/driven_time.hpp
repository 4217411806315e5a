// A host's clock that another process moves. No part of kruxosd: programs for tests alone have it (ADR 0047).
#pragma once

#include <cstdint>
#include <istream>

#include "core/util/clock.hpp"

namespace krux {

/// For each line "advance MS" of `lines` moves the clock and says "clock WALL_MS BOOT_MS" on standard output once
/// everything that waited was woken. Returns when `lines` ends.
void drive(DrivenClock& clock, std::istream& lines);

}  // namespace krux
