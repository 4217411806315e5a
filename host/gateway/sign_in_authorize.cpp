// The authorization endpoint: from the client's request to the page that the operator's code stands on, and back.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/net/url.hpp"
#include "core/oauth/form.hpp"
#include "core/sign_in/client_metadata.hpp"
#include "core/util/error.hpp"
#include "core/util/html.hpp"
#include "core/util/text.hpp"
#include "host/gateway/sign_in.hpp"
#include "host/http/html_page.hpp"

namespace krux {
namespace {

constexpr std::size_t kMostStateBytes = 4096, kChallengeChars = 43;
/// A request's handle in two: a part for the page's address, and one for the browser that began it. Who has been sent
/// the address, or reads it over a shoulder, has half of it.
constexpr std::size_t kAddressChars = 32, kBrowserChars = 32;
constexpr std::string_view kBrowserCookie = "kruxos_browser";
/// As long as a request can last.
constexpr int kBrowserCookieS = 900;

/// S256 of RFC 7636: 32 bytes in base64url.
bool is_challenge(std::string_view text) {
  return text.size() == kChallengeChars && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

/// What the browser was given when it began; nothing where it has none, or several.
std::optional<std::string> browser_of(const ServerRequest& load) {
  const auto found = load.cookie(kBrowserCookie);
  return found && found->size() == kBrowserChars ? std::optional<std::string>(*found) : std::nullopt;
}

std::string shown(std::string_view text) {
  return escape_html(printable(text));
}

std::string who_asks(const SignInAsk& ask) {
  const auto& client = ask.client;
  const auto name = client.metadata.name.empty()
                        ? std::string("A program that gives no name")
                        : "A program that calls itself <b>" + shown(client.metadata.name) + "</b>";
  const auto known = ClientDocuments::is_document_address(client.client_id)
                         ? "It is known by its document at <b>" + shown(client.client_id) + "</b>."
                         : std::string("It has registered itself, which anybody can under any name.");
  const auto back = is_loopback_redirect(ask.redirect_uri)
                        ? "Your browser goes back to a program on this computer (<b>" +
                              shown(redirect_host(ask.redirect_uri)) + "</b>), whichever listens there."
                        : "Your browser goes back to <b>" + shown(redirect_host(ask.redirect_uri)) + "</b>.";
  return "<p>" + name + " asks to act as one of your agents. " + known + " " + back + "</p>";
}

ServerResponse waiting_page(const SignInRequest& request) {
  const auto body = fmt::format(
      "{}<p>Its code is</p><p><strong>{}</strong></p><p>To let it in, run this where the host runs:</p>"
      "<pre>kruxos sign-in accept {} --agent NAME</pre><p>To refuse it: <code>kruxos sign-in reject {}</code>. This "
      "page "
      "goes on by itself once you have decided.</p><p>If you did not begin this yourself, close this page, and accept "
      "the code for nobody.</p>",
      who_asks(request.ask), request.code, request.code, request.code);
  return html_page(200, "Sign in to KruxOS", body, "<meta http-equiv=\"refresh\" content=\"3\">");
}

}  // namespace

std::string SignIn::way_back(const std::string& redirect_uri, const std::optional<std::string>& state,
                             const SignInRefused* error, const std::string& code) const {
  std::string answer;
  if (error) {
    append_pair(answer, "error", error->error());
    append_pair(answer, "error_description", error->what());
  } else {
    append_pair(answer, "code", code);
  }
  if (state) append_pair(answer, "state", *state);
  append_pair(answer, "iss", origin_);
  return redirect_uri + (redirect_uri.find('?') == std::string::npos ? '?' : '&') + answer;
}

void SignIn::authorize(const ServerRequest& request, const Respond& respond) {
  auto query = FormValues::parse(request.query);
  if (!query || !query->find("client_id") || !query->find("redirect_uri") ||
      !query->repeated({"client_id", "redirect_uri"}).empty())
    return respond(text_page(400, "Not signed in",
                             "This address must have client_id and redirect_uri, each once and percent-encoded. Begin "
                             "again in the program that brought you here."));
  if (!may_begin(request.peer))
    return respond(text_page(429, "Not signed in", "Too many requests to sign in. Try again in a minute."));
  const auto peer = tries_key(request.peer.address);
  const auto client_id = query->get("client_id");
  auto found = [this, peer, respond, query = *std::move(query)](const DocumentFetches::Outcome& outcome) {
    run(storing_, For::kPerson, respond, [this, peer, query, outcome] {
      if (const auto* why = std::get_if<SignInRefused>(&outcome)) throw SignInRefused(*why);
      return begin(query, peer, std::get<SignInClient>(outcome));
    });
  };
  find_client(client_id, peer, std::move(found), respond);
}

void SignIn::find_client(const std::string& client_id, const std::string& peer, DocumentFetches::Fetched found,
                         const Respond& respond) {
  const bool has_document = ClientDocuments::is_document_address(client_id);
  if (const auto client = has_document ? documents_.at_hand(client_id) : store_.client(client_id))
    return found(*client);
  if (!has_document)
    return found(SignInRefused("invalid_client",
                               "No client has registered under this client_id, or it did not sign in soon enough. Add "
                               "the connector again in the program that brought you here."));
  switch (fetches_.fetch(client_id, peer, std::move(found))) {
    case DocumentFetches::Begun::kYes:
      return;
    case DocumentFetches::Begun::kTooManyOfPeer:
      return respond(
          text_page(429, "Not signed in",
                    "As many documents are being fetched for your address as may be at a time. Try again in a "
                    "few seconds."));
    case DocumentFetches::Begun::kTooMany:
      return respond(text_page(503, "Not signed in", "Too much waits already. Try again in a moment."));
  }
}

ServerResponse SignIn::begin(const FormValues& query, const std::string& peer, const SignInClient& client) {
  SignInAsk ask;
  ask.client = client;
  ask.redirect_uri = query.get("redirect_uri");
  if (!redirect_fits(ask.client.metadata, ask.redirect_uri))
    throw SignInRefused("invalid_request",
                        "The redirect_uri is none of the client's, or none that this host leads to: https, or http to "
                        "127.0.0.1, [::1] or localhost. You are sent nowhere.");
  ask.state = query.find("state");
  if (const auto why = why_not(query)) {
    // Nobody has looked at this client yet: a link, so that this address leads nobody astray by itself.
    if (ask.state && ask.state->size() > kMostStateBytes) ask.state.reset();
    return html_page(400, "Not signed in",
                     fmt::format("<p>{}</p><p><a href=\"{}\" rel=\"noreferrer\">Go back to {}</a></p>",
                                 shown(why->what()), escape_html(way_back(ask.redirect_uri, ask.state, &*why, {})),
                                 shown(redirect_host(ask.redirect_uri))));
  }
  ask.challenge = query.get("code_challenge");
  ask.resource = resource_;
  ask.peer = peer;
  const auto handle = store_.begin(ask).handle;
  const auto page = std::string(kPages) + handle.substr(0, kAddressChars);
  auto response = see_other(page);
  // For this page alone: a browser may have several before it. Lax, since the client's page leads here.
  response.headers.emplace_back(
      "Set-Cookie",
      fmt::format("{}={}; Path={}; Max-Age={}; HttpOnly; SameSite=Lax{}", kBrowserCookie, handle.substr(kAddressChars),
                  page, kBrowserCookieS, origin_.starts_with("https:") ? "; Secure" : ""));
  return response;
}

std::optional<SignInRefused> SignIn::why_not(const FormValues& query) const {
  const auto twice =
      query.repeated({"response_type", "response_mode", "code_challenge", "code_challenge_method", "state", "scope"});
  if (!twice.empty()) return SignInRefused("invalid_request", twice + " stands there twice.");
  if (!query.find("response_type"))
    return SignInRefused("invalid_request", "response_type is missing: it must be code.");
  if (query.get("response_type") != "code")
    return SignInRefused("unsupported_response_type", "response_type must be code.");
  if (query.find("response_mode").value_or("query") != "query")
    return SignInRefused("invalid_request", "response_mode must be query.");
  if (query.get("code_challenge_method") != "S256" || !is_challenge(query.get("code_challenge")))
    return SignInRefused("invalid_request",
                         "PKCE is needed: code_challenge_method S256 and a code_challenge of 43 characters.");
  if (query.get("state").size() > kMostStateBytes) return SignInRefused("invalid_request", "state is too long.");
  for (const auto& resource : query.all("resource")) {
    if (!is_ours(resource))
      return SignInRefused("invalid_target", "resource must be " + resource_ + ": nothing else is served here.");
  }
  return std::nullopt;
}

/// Scheme and host in any case, and with a slash at its end if somebody likes.
bool SignIn::is_ours(const std::string& resource) const {
  if (resource == resource_) return true;
  try {
    const auto url = parse_url(resource);
    return url.query.empty() && (url.origin() + url.path == resource_ || url.origin() + url.path == resource_ + "/");
  } catch (const Error&) {
    return false;
  }
}

ServerResponse SignIn::page(const ServerRequest& load) {
  const auto browser = browser_of(load);
  if (!browser)
    return text_page(
        403, "Not signed in",
        "This page is for the browser that began the request, which has a cookie of this host since. Begin "
        "again, in this browser, in the program that brought you here. If somebody sent you this address, "
        "close it: whoever did wants to become your agent.");
  const auto handle = load.path.substr(kPages.size()) + *browser;
  const auto request = handle.size() == kAddressChars + kBrowserChars ? store_.load_page(handle) : std::nullopt;
  if (!request)
    return text_page(410, "Not signed in",
                     "This request is over. If the program that brought you here is not signed in, begin again there.");
  const auto& ask = request->ask;
  switch (request->decision) {
    case SignInDecision::kAccepted:
      return see_other(way_back(ask.redirect_uri, ask.state, nullptr, SignInStore::authorization_code(handle)));
    case SignInDecision::kRejected: {
      const SignInRefused denied("access_denied", "The operator has refused.");
      return see_other(way_back(ask.redirect_uri, ask.state, &denied, {}));
    }
    default:
      return waiting_page(*request);
  }
}

}  // namespace krux
