// Signing in on the page, and what a browser then shows.
#include <fmt/format.h>
#include <sodium.h>

#include "core/util/html.hpp"
#include "core/write/write.hpp"
#include "host/web/web_page.hpp"

namespace krux::web {
namespace {

constexpr std::string_view kTyped =
    "Type it on no page to which something else than you yourself has led this browser.";
/// Whoever comes to one write was led by something, or is back after a while.
constexpr std::string_view kLed =
    "Has a program led this browser here? Then type it only where the address above begins with http://127.0.0.1: and "
    "the port that you know (<code>kruxos status</code> shows it). Better: leave this page, type that address "
    "yourself, and find the write in the list. Where you are signed in in another tab, close this page and find it "
    "there.";

}  // namespace

ServerResponse sign_in_page(int status, const Notice& notice, const std::string& next, std::size_t operators) {
  // Who they are is told to nobody who has not signed in.
  const auto* name = operators > 1 ? "<label for=\"operator\">Your name as an operator</label><input id=\"operator\" "
                                     "name=\"operator\" maxlength=\"32\" autocomplete=\"username\" "
                                     "autocapitalize=\"none\" spellcheck=\"false\" required autofocus>"
                                   : "";
  const auto body =
      operators > 0 ? fmt::format(
                          "<h1>Sign in</h1>{}<form method=\"post\" action=\"/sign-in\" class=\"action\"><input type="
                          "\"hidden\" name=\"next\" value=\"{}\">{}<label for=\"passphrase\">{}"
                          "</label><input id=\"passphrase\" name=\"passphrase\" type=\"password\" autocomplete="
                          "\"current-password\" required{}><button type=\"submit\" class=\"good\">Sign in</button>"
                          "</form><p>It is the one of <code>kruxos operator set-passphrase</code>. {}</p>",
                          notice_html(notice), escape_html(next), name,
                          operators > 1 ? "Your passphrase" : "The operator's passphrase",
                          operators > 1 ? "" : " autofocus", next.empty() ? kTyped : kLed)
                    : std::string(
                          "<h1>Sign in</h1><p>No passphrase is set yet, by which you are known here. Set one where the "
                          "host runs, then load this page again:</p><pre>kruxos operator set-passphrase</pre>");
  return page(status, "Sign in", body, {});
}

std::optional<Secret> take_passphrase(std::string& body) {
  constexpr std::string_view name = "passphrase=";
  struct Wiped {
    std::string& text;
    ~Wiped() { sodium_memzero(text.data(), text.size()); }
  };
  const auto begin = body.starts_with(name) ? 0 : body.find("&passphrase=");
  if (begin == std::string::npos) return std::nullopt;
  const auto from = begin + name.size() + (begin == 0 && body.starts_with(name) ? 0 : 1);
  const auto end = std::min(body.find('&', from), body.size());
  std::string encoded = body.substr(from, end - from);
  sodium_memzero(body.data() + from, end - from);
  body.erase(from, end - from);
  const Wiped wipe_encoded{encoded};
  for (auto& c : encoded) c = c == '+' ? ' ' : c;
  auto decoded = url_decode(encoded);
  if (!decoded) return std::nullopt;
  const Wiped wipe_decoded{*decoded};
  if (decoded->empty()) return std::nullopt;
  return Secret(*decoded);
}

std::string next_of(const std::string& text) {
  constexpr std::string_view writes = "/writes/";
  return text.starts_with(writes) && seq_of_id(text.substr(writes.size())) >= 0 ? text : std::string();
}

}  // namespace krux::web
