// The authorization endpoint: checks of the request, the page of consent, and the way back to the client.
#include <algorithm>
#include <variant>

#include "emulators/oauth/pages.hpp"
#include "emulators/oauth/world.hpp"

namespace krux::test::oauth {
namespace {

using emulator::Performed;

struct Request {
  const Client* client = nullptr;
  std::string redirect_uri, state, challenge, hint;
  bool redirect_was_sent = false, user_only = false;
  Scopes bot_scopes, user_scopes;
};
using Checked = std::variant<Request, Performed>;

Performed page(const std::string& error, const std::string& sentence) {
  return {problem_page(error, sentence), error};
}

Performed back(const Request& request, const std::string& error, const std::string& description = "") {
  std::vector<std::pair<std::string, std::string>> fields{{"error", error}};
  if (!description.empty()) fields.emplace_back("error_description", description);
  if (!request.state.empty()) fields.emplace_back("state", request.state);
  return {redirect_to(with_query(request.redirect_uri, fields)), error};
}

bool is_registered(const Client& client, const std::string& uri, const Address& address) {
  if (client.kind == ClientKind::desktop) return is_loopback(address);
  return std::any_of(client.redirects.begin(), client.redirects.end(), [&](const std::string& known) {
    if (uri == known) return true;
    // Slack also takes what lies below a registered address.
    const std::string folder = known.back() == '/' ? known : known + "/";
    return client.kind != ClientKind::web && uri.rfind(folder, 0) == 0;
  });
}

// Slack's plain http is for localhost by name, and for public clients alone.
bool is_allowed(const Client& client, const Address& address) {
  if (client.kind == ClientKind::classic) return address.scheme == "https";
  if (client.kind == ClientKind::pkce) {
    return address.scheme != "http" || (is_loopback(address) && address.host == "localhost");
  }
  return address.scheme == "https" || is_loopback(address);
}

bool is_desktop_redirect(const Client& client, const std::string& uri) {
  const auto address = parse_address(uri);
  return client.kind == ClientKind::pkce && address && address->scheme != "https";
}

std::optional<Performed> take_redirect(const World& world, const Fields& fields, Request& request) {
  request.redirect_uri = field(fields, "redirect_uri");
  request.redirect_was_sent = !request.redirect_uri.empty();
  const bool slack = world.flavour == Flavour::slack;
  if (slack && !request.redirect_was_sent && !request.client->redirects.empty()) {
    request.redirect_uri = request.client->redirects.front();
  }
  const auto address = parse_address(request.redirect_uri);
  if (address && is_registered(*request.client, request.redirect_uri, *address) &&
      is_allowed(*request.client, *address)) {
    return std::nullopt;
  }
  const std::string passed = field(fields, "redirect_uri");
  if (slack) {
    return page("bad_redirect_uri", "redirect_uri did not match any configured URIs. Passed URI: " + passed);
  }
  return page("redirect_uri_mismatch", "The redirect_uri is not registered for this client: " + passed);
}

void take_scopes(const World& world, const Fields& fields, Request& request) {
  const Scopes scopes = split_scopes(field(fields, "scope"));
  if (world.flavour == Flavour::slack && !request.user_only) {
    request.bot_scopes = scopes;
    request.user_scopes = split_scopes(field(fields, "user_scope"));
  } else {
    request.user_scopes = scopes;
  }
}

std::optional<Performed> mistake_in_scopes(const World& world, const Request& request) {
  Scopes all = request.bot_scopes;
  add_scopes(all, request.user_scopes);
  const bool slack = world.flavour == Flavour::slack;
  if (all.empty()) {
    return slack ? page("no_scopes", "Missing scope in the request.")
                 : page("invalid_request", "Missing required parameter: scope");
  }
  for (const std::string& scope : all) {
    if (world.known_scopes.empty() || contains(world.known_scopes, scope)) continue;
    return page("invalid_scope", "Some requested scopes were invalid: " + scope);
  }
  if (!request.bot_scopes.empty() && is_desktop_redirect(*request.client, request.redirect_uri)) {
    return page("invalid_scope", "Desktop redirects cannot request bot scopes.");
  }
  return std::nullopt;
}

// RFC 7636, 4.4.1. S256 is the only method here.
std::optional<Performed> take_challenge(const World& world, const Fields& fields, Request& request) {
  request.challenge = field(fields, "code_challenge");
  const std::string method = field(fields, "code_challenge_method");
  const bool needed = request.client->kind != ClientKind::classic && world.behaviour.require_pkce;
  if (request.challenge.empty()) {
    if (!needed) return std::nullopt;
    return back(request, "invalid_request", "code challenge required");
  }
  if (method != "S256") return back(request, "invalid_request", "transform algorithm not supported");
  if (request.challenge.size() != 43) return back(request, "invalid_request", "code challenge is not that of S256");
  return std::nullopt;
}

// Google gives web applications a refresh token when they ask for it, and again only with a new consent.
bool gives_refresh(const World& world, const Fields& fields, const Client& client, const Person& person) {
  if (world.flavour == Flavour::slack || client.kind == ClientKind::desktop) return true;
  if (field(fields, "access_type") != "offline") return false;
  const auto& grants = world.grants.all();
  const bool granted_before = std::any_of(grants.begin(), grants.end(), [&](const auto& entry) {
    return entry.second.client == client.id && entry.second.person.id == person.id && entry.second.ended.empty();
  });
  return !granted_before || contains(split_scopes(field(fields, "prompt")), "consent");
}

Checked check(const World& world, const Fields& fields, bool user_only) {
  Request request;
  request.client = world.client(field(fields, "client_id"));
  request.user_only = user_only;
  request.state = field(fields, "state");
  const bool slack = world.flavour == Flavour::slack;
  if (!request.client) {
    return slack ? page("invalid_client_id", "Invalid client_id parameter")
                 : page("invalid_client", "The OAuth client was not found.");
  }
  if (auto mistake = take_redirect(world, fields, request)) return std::move(*mistake);
  const std::string type = field(fields, "response_type");
  if (!slack && type.empty()) return page("invalid_request", "Missing required parameter: response_type");
  if (!slack && type != "code") return back(request, "unsupported_response_type");
  take_scopes(world, fields, request);
  if (auto mistake = mistake_in_scopes(world, request)) return std::move(*mistake);
  if (auto mistake = take_challenge(world, fields, request)) return std::move(*mistake);
  request.hint = field(fields, slack ? "team" : "login_hint");
  return request;
}

Scopes in_one_list(const Request& request) {
  Scopes all = request.bot_scopes;
  all.insert(all.end(), request.user_scopes.begin(), request.user_scopes.end());
  return all;
}

Performed show(World& world, const Request& request, const Fields& fields, const std::string& path) {
  ++world.counters.pages;
  ConsentPage shown;
  shown.provider = world.flavour == Flavour::slack ? "Slack" : "Google";
  shown.client = request.client->id;
  shown.action = path;
  shown.hidden = fields;
  shown.people = world.people();
  shown.scopes = in_one_list(request);
  shown.granular = world.flavour == Flavour::google;
  if (shown.people.empty()) return page("no_account", "There is nobody to choose: the emulator has no account.");
  shown.chosen = shown.people.front().id;
  for (const Person& person : shown.people) {
    if (!request.hint.empty() && (person.id == request.hint || person.team == request.hint)) shown.chosen = person.id;
  }
  return {consent_page(shown), ""};
}

// The scopes that were left ticked, each list for itself.
void keep_ticked(const Fields& fields, Request& request) {
  std::size_t index = 0;
  for (Scopes* list : {&request.bot_scopes, &request.user_scopes}) {
    Scopes kept;
    for (const std::string& scope : *list) {
      if (field(fields, box_name(index++)) == scope) kept.push_back(scope);
    }
    *list = std::move(kept);
  }
}

Performed decide(World& world, Request request, const Fields& fields) {
  const bool denied = field(fields, "decision") != "allow";
  keep_ticked(fields, request);
  if (denied || in_one_list(request).empty()) {
    ++world.counters.denials;
    return back(request, "access_denied");
  }
  const std::vector<Person> people = world.people();
  const auto who = std::find_if(people.begin(), people.end(),
                                [&](const Person& person) { return person.id == field(fields, "account"); });
  if (who == people.end()) return page("no_account", "No such account was offered.");
  Code code;
  code.client = request.client->id;
  code.redirect_uri = request.redirect_uri;
  code.redirect_was_sent = request.redirect_was_sent;
  code.challenge = request.challenge;
  code.person = *who;
  code.user_scopes = request.user_scopes;
  code.bot_scopes = request.bot_scopes;
  code.offline = gives_refresh(world, fields, *request.client, *who);
  code.user_only = request.user_only;
  ++world.counters.codes;
  std::vector<std::pair<std::string, std::string>> answer{{"code", world.grants.add_code(code, world.clock.now_ms())}};
  if (!request.state.empty()) answer.emplace_back("state", request.state);
  if (world.flavour == Flavour::google) answer.emplace_back("scope", join_scopes(request.user_scopes, ' '));
  return {redirect_to(with_query(request.redirect_uri, answer)), ""};
}

}  // namespace

Performed authorize(World& world, const Fields& fields, bool posted, bool user_only, const std::string& path) {
  Checked checked = check(world, fields, user_only);
  if (auto* refused = std::get_if<Performed>(&checked)) return std::move(*refused);
  Request& request = std::get<Request>(checked);
  if (world.behaviour.deny != 0) {
    if (world.behaviour.deny > 0) --world.behaviour.deny;
    ++world.counters.denials;
    return back(request, "access_denied");
  }
  if (posted) return decide(world, std::move(request), fields);
  return show(world, request, fields, path);
}

}  // namespace krux::test::oauth
