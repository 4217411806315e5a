// The host's log: one line an event on standard error, as text or as JSON. What services and agents say is escaped.
#pragma once

#include <string>

namespace krux {

/// Once, before the first line. `level`: debug, info, warn, error, off (the configuration has checked it).
void configure_logging(const std::string& level, bool json);

}  // namespace krux
