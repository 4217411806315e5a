#include <fmt/format.h>

#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/gateway/http_types.hpp"

namespace krux::cli {
namespace {

constexpr int kPollMs = 200;

int show_connections(const Session& session) {
  const auto answer = session.host.get("/v1/connections");
  if (session.printed(answer)) return kOk;
  Table table({{"SERVICE"},
               {"ACCOUNT", false, true},
               {"STATE"},
               {"CONNECTED"},
               {"MISSING SCOPES", false, true},
               {"", false, true}});
  for (const auto& connection : items(answer.json, "connections").GetArray()) {
    const auto state = text(connection, "state");
    table.add({text(connection, "service"),
               text(connection, "account_name"),
               {state, state == "connected"       ? Style::kGood
                       : state == "not connected" ? Style::kDim
                                                  : Style::kWarn},
               relative(number(connection, "connected_at_ms"), session.now_ms),
               {joined(items(connection, "missing_scopes")), Style::kWarn},
               text(connection, "problem")});
  }
  if (table.empty()) {
    session.console.out() << "There is no service to connect; `kruxos plugin list` shows the adapters.\n";
    return kOk;
  }
  table.print(session.console);
  return kOk;
}

void show_help(const Session& session, const std::string& target) {
  const auto answer = session.host.get(target);
  const auto help = text(part(answer.json, "connection"), "help");
  std::string_view rest = help;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    session.console.err() << printable(rest.substr(0, end)) << "\n";
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
}

/// {"token": "..."}, wiped when it goes.
SecretBytes token_body(const SecretBytes& token) {
  for (const char c : token) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\\' || static_cast<unsigned char>(c) >= 0x7f)
      throw CliError(kFailed, "This is no token: it has blanks or characters that no token has. Nothing was changed.");
  }
  constexpr std::string_view before = R"({"token":")", after = R"("})";
  SecretBytes body;
  body.reserve(before.size() + token.size() + after.size());
  append(body, before);
  append(body, as_view(token));
  append(body, after);
  return body;
}

void trim(SecretBytes& token) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!token.empty() && blank(token.back())) token.pop_back();
  while (!token.empty() && blank(token.front())) token.erase(token.begin());
}

std::string sync_line(const JsonValue& account) {
  const auto total = number(account, "parts_total"), done = number(account, "parts_done");
  const auto phase = text(account, "phase");
  const auto next = phase == "waiting" || phase == "backing_off" ? text(account, "last_error") : std::string();
  return fmt::format("{}: {}{}{}{}", text(account, "account_name"), phase, flag(account, "full") ? ", full sync" : "",
                     total > 0 ? fmt::format(", {} of {}", done, total) : "", next.empty() ? "" : " - " + next);
}

const JsonValue* account_in(const JsonValue& answer, const std::string& id) {
  for (const auto& account : items(answer, "accounts").GetArray()) {
    if (text(account, "account_id") == id) return &account;
  }
  return nullptr;
}

/// Whether each account has passed since `before`; throws when one failed instead.
bool all_passed(const JsonValue& before, const JsonValue& now) {
  bool all = true;
  for (const auto& old : items(before, "accounts").GetArray()) {
    const auto* account = account_in(now, text(old, "account_id"));
    if (!account) throw CliError(kFailed, "The account was disconnected while it was synced.");
    if (number(*account, "passes") > number(old, "passes")) continue;
    const auto phase = text(*account, "phase");
    const bool failed = number(*account, "failures_in_a_row") > number(old, "failures_in_a_row");
    if (failed || phase == "refused")
      throw CliError(kFailed, fmt::format("The sync of {} failed: {}", printable(text(*account, "account_name")),
                                          printable(text(*account, "last_error"))));
    all = false;
  }
  return all;
}

/// "40 messages, 3 channels"
std::string records_of(const JsonValue& account) {
  std::string out;
  for (const auto& [name, count] : part(account, "records").GetObject())
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count.IsInt64() ? count.GetInt64() : 0, view(name));
  return out;
}

void print_sync(const Session& session, const JsonValue& sync) {
  Table table(
      {{"ACCOUNT", false, true}, {"PHASE"}, {"PROGRESS", true}, {"RECORDS", false, true}, {"SYNCED"}, {"NEXT"}});
  Table problems({{"PROBLEM", false, true}, {"", false, true}});
  for (const auto& account : items(sync, "accounts").GetArray()) {
    const auto total = number(account, "parts_total");
    const auto name = text(account, "account_name"), error = text(account, "last_error");
    table.add({name, text(account, "phase"),
               total > 0 ? fmt::format("{}/{}", number(account, "parts_done"), total) : "-", records_of(account),
               relative(number(account, "synced_at_ms"), session.now_ms),
               relative(number(account, "next_at_ms"), session.now_ms)});
    if (!error.empty()) problems.add({{name, Style::kWarn}, error});
    for (const auto& problem : items(account, "problems").GetArray())
      problems.add({{text(problem, "part"), Style::kWarn}, text(problem, "message")});
  }
  table.print(session.console);
  if (problems.empty()) return;
  session.console.out() << "\n";
  problems.print(session.console);
}

}  // namespace

int connect_service(const Session& session, const std::string& service) {
  if (service == "status") return show_connections(session);
  const auto target = "/v1/connections/" + url_encode(service);
  if (session.console.reads_terminal()) show_help(session, target);
  auto token = session.console.read_secret("Token (not shown while you type): ");
  trim(token);
  if (token.empty()) throw CliError(kUsage, "No token was given; nothing was changed. Give it on standard input.");
  const auto body = token_body(token);
  const auto answer = session.host.post(target, as_view(body));
  if (session.printed(answer)) return kOk;
  const auto& connection = part(answer.json, "connection");
  Listing listing;
  listing.add("Connected", {text(connection, "service"), Style::kGood});
  listing.add("Account", fmt::format("{} ({})", text(connection, "account_name"), text(connection, "account_id")));
  listing.add_unless_empty("Scopes", joined(items(connection, "scopes")));
  listing.add_unless_empty("Missing", {joined(items(connection, "missing_scopes")), Style::kWarn});
  listing.print(session.console);
  return kOk;
}

int sync_service(const Session& session, const std::string& service, bool wait) {
  const auto target = "/v1/sync/" + url_encode(service);
  const auto begun = session.host.post(target);
  if (!wait) {
    if (!session.printed(begun)) print_sync(session, part(begun.json, "sync"));
    return kOk;
  }
  const auto& before = part(begun.json, "sync");
  for (;;) {
    const auto now = session.host.get(target);
    const auto& sync = part(now.json, "sync");
    if (all_passed(before, sync)) {
      session.console.progress("");
      if (!session.printed(now)) print_sync(session, sync);
      return kOk;
    }
    std::string line;
    for (const auto& account : items(sync, "accounts").GetArray())
      line += (line.empty() ? "" : "; ") + printable(sync_line(account));
    if (!session.json) session.console.progress(fit(line, session.console.width() - 1));
    session.console.sleep_ms(kPollMs);
  }
}

}  // namespace krux::cli
