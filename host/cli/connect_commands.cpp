// `kruxos connect`: with a pasted token, or in the browser.
#include <fmt/format.h>

#include <cstdlib>
#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/known_names.hpp"
#include "host/cli/secret_body.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

constexpr int kPollMs = 300;

/// "in 47 min, refreshed by itself"
std::string access_ends(const JsonValue& connection, std::int64_t now_ms) {
  const auto at = number(connection, "expires_at_ms");
  if (at == 0) return "";
  const bool refreshes = flag(connection, "refreshes") && text(connection, "state") != "needs attention";
  return fmt::format("{}{}", relative(at, now_ms), refreshes ? ", refreshes by itself" : ", then connect it again");
}

/// "https://git.example.com/, region=eu": what the account has of its own.
std::string own_of(const JsonValue& connection) {
  auto has = text(connection, "base_url");
  for (const auto& setting : part(connection, "settings").GetObject()) {
    if (setting.value.IsString())
      has += fmt::format("{}{}={}", has.empty() ? "" : ", ", view(setting.name), view(setting.value));
  }
  return has;
}

/// Of --set.
std::map<std::string, std::string> settings_of(const ConnectArguments& arguments) {
  std::map<std::string, std::string> settings;
  for (const auto& given : arguments.settings) {
    const auto equals = given.find('=');
    if (equals == std::string::npos || equals == 0)
      throw CliError(kUsage, fmt::format("--set takes NAME=VALUE, not \"{}\".", printable(given)));
    settings[given.substr(0, equals)] = given.substr(equals + 1);
  }
  return settings;
}

int show_connections(const Session& session) {
  const auto answer = session.host.get("/v1/connections");
  if (session.printed(answer)) return kOk;
  Table table({{"SERVICE"},
               {"NAME"},
               {"ACCOUNT", false, true},
               {"PROFILE"},
               {"STATE"},
               {"CONNECTED"},
               {"ACCESS ENDS", false, true}});
  Table own({{"OWN", false, true}, {"", false, true}});
  Table problems({{"PROBLEM", false, true}, {"", false, true}});
  for (const auto& connection : items(answer.json, "connections").GetArray()) {
    const auto state = text(connection, "state"), problem = text(connection, "problem");
    const auto missing = joined(items(connection, "missing_scopes"));
    const auto name = fmt::format("{} {}", text(connection, "service"), text(connection, "name"));
    table.add({text(connection, "service"),
               text(connection, "name"),
               text(connection, "account_name"),
               text(connection, "profile"),
               {state, state == "connected"       ? Style::kGood
                       : state == "not connected" ? Style::kDim
                                                  : Style::kWarn},
               relative(number(connection, "connected_at_ms"), session.now_ms),
               access_ends(connection, session.now_ms)});
    if (const auto has = own_of(connection); !has.empty()) own.add({name, has});
    if (!problem.empty()) problems.add({{name, Style::kWarn}, problem});
    if (!missing.empty()) problems.add({{name, Style::kWarn}, "lacks the scopes " + missing});
  }
  if (table.empty()) {
    session.console.out() << "There is no service to connect; `kruxos plugin list` shows the adapters.\n";
    return kOk;
  }
  table.print(session.console);
  if (!own.empty()) {
    session.console.out() << "\n";
    own.print(session.console);
  }
  if (problems.empty()) return kOk;
  session.console.out() << "\n";
  problems.print(session.console);
  return kOk;
}

void print_lines(std::ostream& out, std::string_view rest) {
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    out << printable(rest.substr(0, end)) << "\n";
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
}

/// What may stand in a token; a typing error is told apart from a token that the service refuses.
void check_token(const SecretBytes& token) {
  for (const char c : token) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\\' || static_cast<unsigned char>(c) >= 0x7f)
      throw CliError(kFailed, "This is no token: it has blanks or characters that no token has. Nothing was changed.");
  }
}

void trim(SecretBytes& token) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!token.empty() && blank(token.back())) token.pop_back();
  while (!token.empty() && blank(token.front())) token.erase(token.begin());
}

int print_connected(const Session& session, const JsonValue& connection) {
  Listing listing;
  listing.add("Connected", {text(connection, "service"), Style::kGood});
  listing.add("Account", fmt::format("{} ({})", text(connection, "account_name"), text(connection, "account_id")));
  listing.add_unless_empty("Name", text(connection, "name"));
  listing.add_unless_empty("Profile", text(connection, "profile"));
  listing.add_unless_empty("Own", own_of(connection));
  listing.add_unless_empty("Scopes", joined(items(connection, "scopes")));
  listing.add_unless_empty("Missing", {joined(items(connection, "missing_scopes")), Style::kWarn});
  listing.add_unless_empty("Access ends", access_ends(connection, session.now_ms));
  listing.print(session.console);
  return kOk;
}

int connect_by_token(const Session& session, const ConnectArguments& arguments, const std::string& target,
                     const JsonValue& known) {
  if (session.console.reads_terminal()) print_lines(session.console.err(), text(known, "help"));
  auto token = session.console.read_secret("Token (not shown while you type): ");
  trim(token);
  if (token.empty()) throw CliError(kUsage, "No token was given; nothing was changed. Give it on standard input.");
  check_token(token);
  const auto body =
      secret_body({{"token", as_view(token)}, {"account", arguments.account}, {"base_url", arguments.base_url}},
                  settings_of(arguments));
  const auto answer = session.host.post(target, as_view(body));
  if (session.printed(answer)) return kOk;
  return print_connected(session, part(answer.json, "connection"));
}

const JsonValue& named(const JsonValue& array, const std::string& name) {
  static const JsonValue none(rapidjson::kObjectType);
  for (const auto& item : array.GetArray()) {
    if (name.empty() || text(item, "name") == name) return item;
  }
  return none;
}

std::string filled(std::string text, std::string_view place, const std::string& value) {
  for (auto at = text.find(place); at != std::string::npos; at = text.find(place, at + value.size()))
    text.replace(at, place.size(), value);
  return text;
}

/// How to make the app, with the addresses and scopes that are to be entered.
int show_setup(const Session& session, const ConnectArguments& arguments, const JsonValue& oauth) {
  const auto& flow = named(items(oauth, "flows"), arguments.flow);
  const auto profile = arguments.profile.empty() ? text(oauth, "default_profile") : arguments.profile;
  std::string scopes;
  for (const auto& scope : items(named(items(oauth, "profiles"), profile), "scopes").GetArray())
    scopes += (scopes.empty() ? "" : "\n") + std::string(view(scope));
  auto help = filled(text(oauth, "help"), "{redirect_uri}", text(flow, "redirect_uri"));
  print_lines(session.console.out(), filled(filled(help, "{scopes}", scopes), "{service}", arguments.service));
  Table flows({{"--flow"}, {"", false, true}});
  for (const auto& item : items(oauth, "flows").GetArray()) flows.add({text(item, "name"), text(item, "description")});
  Table profiles({{"--profile"}, {"", false, true}});
  for (const auto& item : items(oauth, "profiles").GetArray())
    profiles.add({text(item, "name"), text(item, "description")});
  session.console.out() << "\n";
  flows.print(session.console);
  session.console.out() << "\n";
  profiles.print(session.console);
  return kOk;
}

SecretBytes client_secret_of(const Session& session, const JsonValue& flow) {
  constexpr const char* variable = "KRUXOS_CLIENT_SECRET";
  if (const char* given = std::getenv(variable); given && *given) {
    auto secret = make_secret(given);
    ::unsetenv(variable);  // the browser that is started next would have it
    return secret;
  }
  if (text(flow, "client_secret") != "required" || !session.console.reads_terminal()) return {};
  auto secret = session.console.read_secret("Client secret (not shown while you type): ");
  trim(secret);
  return secret;
}

/// Until the attempt has ended; what is typed meanwhile is taken for the address that the browser ended at.
int await_browser(const Session& session, const std::string& target) {
  while (true) {
    const auto answer = session.host.get(target);
    const auto& attempt = part(answer.json, "attempt");
    const auto state = text(attempt, "state");
    if (state == "connected") {
      if (session.printed(answer)) return kOk;
      return print_connected(session, part(attempt, "connection"));
    }
    if (state == "failed")
      throw CliError(kFailed, fmt::format("Not connected: {}", printable(text(attempt, "message"))), answer.text);
    const auto typed = state == "waiting" ? session.console.line_within(kPollMs) : std::nullopt;
    if (state != "waiting") session.console.sleep_ms(kPollMs);
    if (typed && !typed->empty()) {
      const auto body = secret_body({{"address", *typed}});
      try {
        session.host.post(target + "/callback", as_view(body));
      } catch (const CliError& error) {
        session.console.err() << error.what() << "\n";  // it is still waited for
      }
    }
  }
}

int connect_in_browser(const Session& session, const ConnectArguments& arguments, const std::string& target,
                       const JsonValue& oauth) {
  const auto client_secret = client_secret_of(session, named(items(oauth, "flows"), arguments.flow));
  const auto body = secret_body({{"account", arguments.account},
                                 {"profile", arguments.profile},
                                 {"flow", arguments.flow},
                                 {"client_id", arguments.client_id},
                                 {"client_secret", as_view(client_secret)},
                                 {"base_url", arguments.base_url}},
                                settings_of(arguments));
  const auto answer = session.host.post(target + "/oauth", as_view(body));
  const auto& attempt = part(answer.json, "attempt");
  const auto address = text(attempt, "authorize_url");
  const auto own = target + "/oauth/" + url_encode(text(attempt, "attempt_id"));
  auto& say = session.console.err();
  if (const auto why = text(attempt, "not_listening"); !why.empty()) say << printable(why) << "\n";
  const bool opened = !arguments.no_browser && session.console.open_browser(address);
  say << (opened ? "Agree in the browser. If none has opened, open this address:\n\n"
                 : "Open this address in a browser and agree:\n\n")
      << printable(address) << "\n\n";
  if (session.console.reads_terminal())
    say << "If the browser runs on another machine, it ends at an address that does not load: paste that address here "
           "and press Enter.\n";
  say << std::flush;
  return await_browser(session, own);
}

}  // namespace

int connect_service(const Session& session, const ConnectArguments& arguments) {
  if (arguments.service == "status") return show_connections(session);
  const auto target = "/v1/connections/" + url_encode(arguments.service);
  // A token that is piped in needs nothing else.
  const bool asks_for_browser =
      arguments.setup || !arguments.client_id.empty() || !arguments.profile.empty() || !arguments.flow.empty();
  const bool piped = !session.console.reads_terminal() && !asks_for_browser;
  const auto known = about_service(session, arguments.service, [&] { return session.host.get(target); });
  const auto& connection = part(known.json, "connection");
  if (piped) return connect_by_token(session, arguments, target, connection);
  const auto& oauth = part(connection, "oauth");
  const bool by_browser = !arguments.token && !items(oauth, "flows").Empty();
  if (!by_browser && asks_for_browser)
    throw CliError(kUsage, fmt::format("{} is connected with a token, not in the browser.", arguments.service));
  if (arguments.setup) return show_setup(session, arguments, oauth);
  if (by_browser) return connect_in_browser(session, arguments, target, oauth);
  return connect_by_token(session, arguments, target, connection);
}

}  // namespace krux::cli
