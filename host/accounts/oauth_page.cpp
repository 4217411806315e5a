#include "host/accounts/oauth_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/html.hpp"

namespace krux {

ServerResponse oauth_page(int status, std::string_view title, std::string_view text) {
  ServerResponse response;
  response.status = status;
  response.content_type = "text/html; charset=utf-8";
  response.body = fmt::format(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title></head><body><h1>{0}</h1>"
      "<p>{1}</p></body></html>\n",
      escape_html(title), escape_html(text));
  response.headers = {{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cache-Control", "no-store"},
                      {"X-Content-Type-Options", "nosniff"}};
  return response;
}

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
