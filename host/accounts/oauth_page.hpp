// What the browser shows at the end of its way: static text, no scripts.
#pragma once

#include <string>
#include <string_view>

#include "host/http/http_types.hpp"

namespace krux {

/// `text` is shown as it is, whatever stands in it.
ServerResponse oauth_page(int status, std::string_view title, std::string_view text);

/// Whether the Host header names this machine's loopback, or `also` (a host of the configuration; may be empty): a name
/// that somebody has made lead here (DNS rebinding) is neither.
bool is_host_of_ours(std::string_view host_header, std::string_view also);

}  // namespace krux
