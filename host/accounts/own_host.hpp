// Which hosts the browser's way back is for.
#pragma once

#include <string_view>

namespace krux {

/// Whether the Host header names this machine's loopback, or `also` (a host of the configuration; may be empty): a name
/// that somebody has made lead here (DNS rebinding) is neither.
bool is_host_of_ours(std::string_view host_header, std::string_view also);

}  // namespace krux
