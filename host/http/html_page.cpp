#include "host/http/html_page.hpp"

#include <fmt/format.h>

#include "core/util/html.hpp"

namespace krux {

ServerResponse html_page(int status, std::string_view title, std::string_view body, std::string_view head) {
  ServerResponse response;
  response.status = status;
  response.content_type = "text/html; charset=utf-8";
  response.body = fmt::format(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>{1}</head><body><h1>{0}</h1>"
      "{2}</body></html>\n",
      escape_html(title), head, body);
  response.headers = {
      {"Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"Referrer-Policy", "no-referrer"}};
  return response;
}

ServerResponse see_other(const std::string& location, std::string_view referrer) {
  ServerResponse response;
  response.status = 303;
  response.content_type = "text/plain; charset=utf-8";
  response.headers = {{"Location", location}, {"Referrer-Policy", std::string(referrer)}};
  return response;
}

ServerResponse text_page(int status, std::string_view title, std::string_view text) {
  return html_page(status, title, fmt::format("<p>{}</p>", escape_html(text)));
}

}  // namespace krux
