// Times as people are told them.
#pragma once

#include <cstdint>
#include <string>

namespace krux {

/// "2 d 3 h", "45 s"
std::string duration(std::int64_t ms);
/// "3 min ago", "in 25 s", "now"; "-" for 0.
std::string relative(std::int64_t at_ms, std::int64_t now_ms);

}  // namespace krux
