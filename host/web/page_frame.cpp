#include "host/web/page_frame.hpp"
#include "host/http/html_page.hpp"

#include <fmt/format.h>

#include "core/util/html.hpp"
#include "host/web/page_text.hpp"

namespace krux::web {
namespace {

/// Nothing but our own style, script, forms and events; no page of another origin may hold this one. The referrer goes
/// to this origin alone: with none at all browsers leave the Origin out of forms, by which foreign ones are told.
void add_headers(ServerResponse& response) {
  response.headers.insert(
      response.headers.end(),
      {{"Content-Security-Policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri "
        "'none'; frame-ancestors 'none'"},
       {"Referrer-Policy", "same-origin"},
       {"X-Frame-Options", "DENY"},
       {"Cross-Origin-Opener-Policy", "same-origin"},
       {"Cross-Origin-Resource-Policy", "same-origin"}});
}

std::string header_html(const PagePlace& place) {
  if (place.base.empty()) return "<header><p class=\"brand\">KruxOS</p></header>";
  return fmt::format(
      "<header><p class=\"brand\"><a href=\"{}\">KruxOS</a></p><p>{}</p>{}<button type=\"submit\" class=\"quiet\">Sign "
      "out</button></form></header>",
      place.list(), escape_html(place.who), place.form(place.base + "end"));
}

constexpr std::string_view kKeys =
    "<footer><details id=\"keys\"><summary>Keys</summary><dl><dt>j, k</dt><dd>next, previous write</dd><dt>Enter</dt>"
    "<dd>open it, or press what is marked</dd><dt>a</dt><dd>go to Accept</dd><dt>r</dt><dd>go to Reject</dd><dt>e</dt>"
    "<dd>go to Edit</dd><dt>u</dt><dd>back to all writes</dd><dt>?</dt><dd>this list</dd></dl><p><button type="
    "\"button\" id=\"keys-off\" class=\"quiet\" hidden>Turn these keys off</button></p></details></footer>";

}  // namespace

std::string PagePlace::write(std::string_view write_id, std::string_view action) const {
  return fmt::format("{}writes/{}{}{}", base, url_encode(write_id), action.empty() ? "" : "/", action);
}

std::string PagePlace::form(const std::string& action, std::string_view css_class) const {
  return fmt::format(
      "<form method=\"post\" action=\"{}\" class=\"{}\"><input type=\"hidden\" name=\"token\" value=\"{}\">",
      escape_html(action), css_class, token);
}

ServerResponse page(int status, std::string_view title, std::string_view body, const PagePlace& place) {
  ServerResponse response;
  response.status = status;
  response.content_type = "text/html; charset=utf-8";
  response.body = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>{} - KruxOS</title><link rel=\"stylesheet\" "
      "href=\"/page.css\"><script src=\"/page.js\" defer></script></head><body data-base=\"{}\">{}<main>{}</main>{}"
      "</body></html>\n",
      shown(title, 120), place.base, header_html(place), body, place.base.empty() ? std::string_view() : kKeys);
  add_headers(response);
  return response;
}

std::string notice_html(const Notice& notice) {
  if (notice.kind == NoticeKind::kNone) return {};
  const bool done = notice.kind == NoticeKind::kDone;
  return fmt::format("<p class=\"notice {}\" role=\"{}\">{}</p>", done ? "done" : "look", done ? "status" : "alert",
                     shown(notice.text, 2000));
}

ServerResponse go_to(const std::string& location) {
  return see_other(location, "same-origin");  // with no-referrer browsers send forms with the Origin null
}

ServerResponse file_answer(std::string_view content_type, std::string_view content) {
  ServerResponse response;
  response.content_type = content_type;
  response.body = content;
  response.headers = {{"Cross-Origin-Resource-Policy", "same-origin"}};
  return response;
}

}  // namespace krux::web
