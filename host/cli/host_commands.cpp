#include <fmt/format.h>
#include <rapidjson/prettywriter.h>

#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

Style style_of_status(const std::string& status) {
  return status == "ok" ? Style::kGood : status == "critical" ? Style::kBad : Style::kWarn;
}

std::string address_of(const JsonValue& listener) {
  return fmt::format("{}://{}:{}", flag(listener, "tls") ? "https" : "http", text(listener, "host"),
                     number(listener, "port"));
}

/// "3 buffered, 1 unknown": what is not 0, of these.
std::string counts(const JsonValue& object, std::initializer_list<std::pair<const char*, const char*>> names) {
  std::string out;
  for (const auto& [name, words] : names) {
    const auto count = number(object, name);
    if (count != 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, words);
  }
  return out.empty() ? "none" : out;
}

/// "syncing 3/45", "idle"
std::string sync_words(const JsonValue& service) {
  const auto phase = text(service, "phase");
  const auto done = number(service, "parts_done"), total = number(service, "parts_total");
  const bool under_way = phase != "idle" && total > 0 && done < total;
  return phase.empty() ? "-" : under_way ? fmt::format("{} {}/{}", phase, done, total) : phase;
}

std::string problem_words(const JsonValue& service) {
  auto problem = text(service, "problem");
  const auto counted = [](std::int64_t count, const char* what) {
    return count == 1 ? fmt::format("1 {}", what) : fmt::format("{} {}s", count, what);
  };
  const auto parts = number(service, "problems"), left_out = number(service, "left_out");
  if (!problem.empty() || (parts == 0 && left_out == 0)) return problem;
  if (parts > 0) problem = counted(parts, "part") + " could not be synced";
  if (left_out > 0) problem += (parts > 0 ? ", " : "") + counted(left_out, "record") + " left out";
  return fmt::format("{}: kruxos sync {}", problem, text(service, "service"));
}

void print_services(const Session& session, const JsonValue& services) {
  Table table(
      {{"SERVICE"}, {"ADAPTER"}, {"ACCOUNT", false, true}, {"STATE"}, {"SYNC"}, {"LAST SYNC"}, {"", false, true}});
  for (const auto& service : services.GetArray()) {
    const auto state = text(service, "state");
    const auto style = state == "connected" ? Style::kGood : state == "not connected" ? Style::kDim : Style::kWarn;
    table.add({text(service, "service"),
               text(service, "adapter_version"),
               text(service, "account_name"),
               {state, style},
               sync_words(service),
               synced(service, session.now_ms),
               problem_words(service)});
  }
  session.console.out() << "\n";
  if (!table.empty()) return table.print(session.console);
  session.console.out() << "No adapter is loaded; `kruxos plugin list` says why.\n";
}

/// "pid 4711, 2 restarts", "waiting", "in the host"
std::string process_words(const JsonValue& plugin) {
  if (text(plugin, "isolation") != "process") return text(plugin, "state") == "refused" ? "" : "in the host";
  const auto& process = part(plugin, "process");
  const auto pid = number(process, "pid"), restarts = number(process, "restarts");
  auto words = pid > 0 ? fmt::format("pid {}", pid) : text(process, "state");
  if (restarts > 0) words += fmt::format(", {} restart{}", restarts, restarts == 1 ? "" : "s");
  return words;
}

/// Why it was refused, or how its process ended last.
std::string plugin_reason(const JsonValue& plugin) {
  auto reason = text(plugin, "reason");
  return reason.empty() ? text(part(plugin, "process"), "last_end") : reason;
}

}  // namespace

int show_status(const Session& session) {
  const auto answer = session.host.get("/v1/status");
  if (session.printed(answer)) return kOk;
  const auto& status = answer.json;
  const auto& writes = part(status, "writes");
  Listing listing;
  const auto state = text(status, "status");
  listing.add("Host",
              {fmt::format("{}{}", state, flag(status, "ready") ? ", ready" : ", not ready"), style_of_status(state)});
  listing.add("Version", fmt::format("{} (pid {}, up {})", text(status, "version"), number(status, "pid"),
                                     duration(number(status, "uptime_ms"))));
  listing.add("Gateway", address_of(part(status, "gateway")));
  listing.add("Health", address_of(part(status, "health")) + "/health");
  if (const auto& page = part(status, "page"); !page.ObjectEmpty()) listing.add("Page", address_of(page) + "/");
  listing.add("Agents", std::to_string(number(status, "agents")));
  const auto paused = number(status, "agents_paused");
  if (!part(status, "all_paused").ObjectEmpty()) {
    listing.add("Paused", {"all agents: kruxos agent resume --all", Style::kWarn});
  } else if (paused > 0) {
    listing.add("Paused",
                {fmt::format("{} {}: kruxos agent list", paused, paused == 1 ? "agent" : "agents"), Style::kWarn});
  }
  listing.add("Writes", counts(writes, {{"pending_approval", "waiting for approval"},
                                        {"buffered", "buffered"},
                                        {"executing", "executing"},
                                        {"unknown", "unknown"},
                                        {"dead_letter", "to be retried"}}));
  if (flag(part(status, "vault"), "locked"))
    listing.add("Vault", {"locked: nothing is synced and sent; kruxos vault unlock", Style::kWarn});
  const auto waiting = number(writes, "needs_operator"), alerts = number(part(status, "alerts"), "open");
  if (waiting > 0)
    listing.add("Decisions", {fmt::format("{} wait for you: kruxos approve list", waiting), Style::kWarn});
  const auto held = number(writes, "held_as_copy");
  if (held > 0)
    listing.add("Held",
                {fmt::format("{} because this data directory may be a copy: kruxos held list", held), Style::kWarn});
  if (alerts > 0) listing.add("Alerts", {fmt::format("{} open: kruxos alerts", alerts), Style::kWarn});
  listing.print(session.console);
  print_services(session, items(status, "services"));
  return kOk;
}

int show_config(const Session& session) {
  const auto answer = session.host.get("/v1/config");
  if (session.printed(answer)) return kOk;
  Table table({{"KEY"}, {"VALUE", false, true}, {"FROM"}});
  for (const auto& entry : answer.json.GetObject()) {
    const auto* value = find_member(entry.value, "value");
    const auto shown = !value ? to_json(entry.value) : value->IsString() ? std::string(view(*value)) : to_json(*value);
    const auto origin = text(entry.value, "origin");
    table.add({view(entry.name), shown, {origin, origin == "default" ? Style::kDim : Style::kPlain}});
  }
  table.print(session.console);
  return kOk;
}

int list_plugins(const Session& session) {
  const auto answer = session.host.get("/v1/plugins");
  if (session.printed(answer)) return kOk;
  Table table(
      {{"FILE", false, true}, {"SERVICE"}, {"VERSION"}, {"ORIGIN"}, {"STATE"}, {"PROCESS"}, {"REASON", false, true}});
  for (const auto& plugin : items(answer.json, "plugins").GetArray()) {
    const auto state = text(plugin, "state");
    table.add({text(plugin, "file"),
               text(plugin, "service"),
               text(plugin, "version"),
               find_bool(plugin, "mock").value_or(false) ? "mock" : text(plugin, "origin"),
               {state, state == "loaded" ? Style::kGood : Style::kBad},
               process_words(plugin),
               plugin_reason(plugin)});
  }
  auto& out = session.console.out();
  if (table.empty()) {
    out << "There is no adapter in " << printable(text(answer.json, "directory")) << ".\n";
  } else {
    table.print(session.console);
  }
  for (const auto& bundle : items(answer.json, "next_start").GetArray()) {
    out << printable(fmt::format("{} {} is {}, which the host's next start brings about.", text(bundle, "service"),
                                 text(bundle, "version"), text(bundle, "change")))
        << "\n";
  }
  return kOk;
}

int release_plugin(const Session& session, const std::string& service) {
  const auto answer = session.host.post("/v1/plugins/" + url_encode(service) + "/release");
  if (!session.printed(answer))
    session.console.out() << "The adapter of " << printable(service) << " is called again.\n";
  return kOk;
}

int verify_plugin(const Session& session, const std::string& file, const std::string& definitions) {
  const auto report = session.verify(file, definitions);
  session.console.out() << (session.json ? report.json + "\n" : report.text);
  return report.passed ? kOk : kFailed;
}

int list_alerts(const Session& session, bool all) {
  const auto answer = session.host.get(all ? "/v1/alerts?all=1" : "/v1/alerts");
  if (session.printed(answer)) return kOk;
  bool any = false;
  for (const auto& alert : items(answer.json, "alerts").GetArray()) {
    const auto severity = text(alert, "severity");
    const auto style = severity == "critical" ? Style::kBad : severity == "warning" ? Style::kWarn : Style::kPlain;
    if (any) session.console.out() << "\n";
    any = true;
    Listing listing;
    listing.add(fmt::format("#{}", number(alert, "id")), {severity, style});
    listing.add("", text(alert, "message"));
    listing.add("raised", moment(number(alert, "raised_at_ms"), session.now_ms));
    listing.add_unless_empty("write", text(alert, "write_id"));
    const auto by = text(alert, "acknowledged_by");
    if (!by.empty()) listing.add("seen by", by + ", " + moment(number(alert, "acknowledged_at_ms"), session.now_ms));
    listing.print(session.console);
  }
  if (!any) session.console.out() << (all ? "There are no alerts.\n" : "There are no open alerts.\n");
  return kOk;
}

int acknowledge_alert(const Session& session, std::int64_t id) {
  const auto answer = session.host.post(fmt::format("/v1/alerts/{}/acknowledge", id));
  if (!session.printed(answer)) session.console.out() << "Alert " << id << " is acknowledged.\n";
  return kOk;
}

}  // namespace krux::cli
