#include "host/accounts/own_host.hpp"

#include <algorithm>

namespace krux {

bool is_host_of_ours(std::string_view host, std::string_view also) {
  const bool in_brackets = host.starts_with('[');
  const auto colon = in_brackets ? host.find("]:") : host.find(':');
  if (colon != std::string_view::npos) {
    const auto port = host.substr(colon + (in_brackets ? 2 : 1));
    if (port.empty() || port.size() > 5 ||
        !std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return false;
    host = host.substr(0, colon + (in_brackets ? 1 : 0));
  }
  return host == "127.0.0.1" || host == "localhost" || host == "[::1]" || (!also.empty() && host == also);
}

}  // namespace krux
