#include "host/test_host/driven_time.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace krux {

void drive(DrivenClock& clock, std::istream& lines) {
  std::string word;
  std::int64_t ms = 0;
  while (lines >> word >> ms) {
    if (word != "advance") continue;
    clock.advance(ms);
    fmt::print("clock {} {}\n", clock.wall_ms(), clock.boot_ms());
    std::fflush(stdout);
  }
}

}  // namespace krux
