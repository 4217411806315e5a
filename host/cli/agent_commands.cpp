#include <fmt/format.h>

#include <ostream>

#include "core/util/durations.hpp"
#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/ids.hpp"
#include "host/cli/known_names.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

Cell state_of(const JsonValue& agent, bool all_paused) {
  if (flag(agent, "revoked")) return {"revoked", Style::kBad};
  const bool paused = all_paused || !part(agent, "paused").ObjectEmpty();
  return paused ? Cell("paused", Style::kWarn) : Cell("active", Style::kGood);
}

/// "since 2026-11-21 09:30:00 UTC (3 min ago) by operator:ann: why"; empty where there is none.
std::string pause_words(const Session& session, const JsonValue& pause) {
  if (pause.ObjectEmpty()) return {};
  const auto reason = text(pause, "reason");
  return fmt::format("since {} by {}{}{}", moment(number(pause, "paused_at_ms"), session.now_ms),
                     text(pause, "paused_by"), reason.empty() ? "" : ": ", reason);
}

void tell_of_pause_of_all(const Session& session, const JsonValue& answer) {
  const auto words = pause_words(session, part(answer, "all_paused"));
  if (!words.empty())
    session.console.out() << fmt::format("All agents are paused {}. kruxos agent resume --all ends that.\n",
                                         printable(words));
}

void tell_of_paused(const Session& session, const JsonValue& answer) {
  const auto paused = number(answer, "agents_paused");
  if (paused > 0)
    session.console.out() << fmt::format("{} {} paused by {} and {} so: kruxos agent list\n", paused,
                                         paused == 1 ? "agent is" : "agents are", paused == 1 ? "itself" : "themselves",
                                         paused == 1 ? "stays" : "stay");
}

void must_be_named(const PauseArguments& arguments) {
  if (arguments.agent.empty() != arguments.all) throw CliError(kUsage, "Name the agent, or give --all.");
}

std::string target(const std::string& name, std::string_view action = {}) {
  return std::string("/v1/agents/").append(url_encode(name)).append(action);
}

HostAnswer get_agent(const Session& session, const std::string& given) {
  return about_agent(session, given, [&] { return session.host.get(target(whole_agent_id(session, given))); });
}

struct MeantAgent {
  std::string id, name;
};

/// Whose it is stands in the question, so that an act that cannot be undone meets whom it names.
MeantAgent meant(const Session& session, const std::string& given) {
  const auto shown = get_agent(session, given);
  const auto& agent = part(shown.json, "agent");
  return {text(agent, "agent_id"), text(agent, "name")};
}

HostAnswer post_agent(const Session& session, const std::string& given, std::string_view action,
                      std::string_view body = {}) {
  return about_agent(session, given,
                     [&] { return session.host.post(target(whole_agent_id(session, given), action), body); });
}

/// The key goes to standard output alone, so that it can be caught by a script. Nobody can ask for it again.
int show_key(const Session& session, const HostAnswer& answer, std::string_view what) {
  const auto& agent = part(answer.json, "agent");
  const auto print = [&](const std::string& line) {
    if (const auto why = session.console.print_at_once(line + "\n"); !why.empty())
      throw CliError(kFailed, fmt::format("The key of agent {0} could not be written ({1}) and is lost: it is shown "
                                          "once only. The agent is there. Make another key: kruxos agent rotate {0}",
                                          printable(text(agent, "name")), why));
    return static_cast<int>(kOk);
  };
  if (session.json) return print(answer.text);
  session.console.err() << fmt::format("{} {} ({}). Its key is shown this once only:\n", what,
                                       printable(text(agent, "name")), printable(text(agent, "agent_id")));
  return print(printable(text(answer.json, "key")));
}

}  // namespace

int create_agent(const Session& session, const std::string& name) {
  const auto body = fmt::format(R"({{"name":{}}})", json_string(name));
  return show_key(session, session.host.post("/v1/agents", body), "Created agent");
}

int list_agents(const Session& session) {
  const auto answer = session.host.get("/v1/agents");
  if (session.printed(answer)) return kOk;
  Table table({{"NAME", false, true}, id_column("ID"), {"STATE"}, {"CREATED"}, {"LAST SEEN"}});
  const bool all_paused = !part(answer.json, "all_paused").ObjectEmpty();
  for (const auto& agent : items(answer.json, "agents").GetArray()) {
    table.add({text(agent, "name"), text(agent, "agent_id"), state_of(agent, all_paused),
               relative(number(agent, "created_at_ms"), session.now_ms),
               relative(number(agent, "last_seen_ms"), session.now_ms)});
  }
  if (table.empty()) {
    session.console.out() << "There are no agents yet: kruxos agent create NAME\n";
  } else {
    table.print(session.console);
  }
  tell_of_pause_of_all(session, answer.json);
  return kOk;
}

int show_agent(const Session& session, const std::string& name) {
  const auto answer = get_agent(session, name);
  if (session.printed(answer)) return kOk;
  const auto& agent = part(answer.json, "agent");
  Listing listing;
  listing.add("Name", text(agent, "name"));
  listing.add("Id", text(agent, "agent_id"));
  listing.add("State", state_of(agent, !part(answer.json, "all_paused").ObjectEmpty()));
  listing.add_unless_empty("Paused", pause_words(session, part(agent, "paused")));
  listing.add_unless_empty("All paused", pause_words(session, part(answer.json, "all_paused")));
  listing.add("Created", moment(number(agent, "created_at_ms"), session.now_ms));
  listing.add_unless_empty("Key since", moment(number(agent, "key_since_ms"), session.now_ms));
  listing.add_unless_empty("Old key until", moment(number(agent, "old_key_until_ms"), session.now_ms));
  listing.add_unless_empty("Last seen", moment(number(agent, "last_seen_ms"), session.now_ms));
  listing.add_unless_empty("Revoked", moment(number(agent, "revoked_at_ms"), session.now_ms));
  listing.print(session.console);
  return kOk;
}

int rotate_agent(const Session& session, const std::string& given, std::int64_t grace_minutes, bool yes) {
  const auto [id, name] = meant(session, given);
  const auto ends =
      grace_minutes == 0 ? std::string("at once") : fmt::format("in {}", span_in_words(grace_minutes * kMinute));
  const auto question =
      fmt::format("The present key of {} ends {}; programs that have signed in as it must sign in again now. Go on?",
                  printable(name), ends);
  if (!session.confirm(question, yes)) return kFailed;
  const auto body = grace_minutes == 0 ? "" : fmt::format(R"({{"grace_seconds":{}}})", grace_minutes * 60);
  return show_key(session, post_agent(session, id, "/rotate", body), "Made a new key for agent");
}

int revoke_agent(const Session& session, const std::string& given, bool yes) {
  const auto [id, name] = meant(session, given);
  const auto question =
      fmt::format("{} is shut out for good, and its waiting writes are cancelled. Go on?", printable(name));
  if (!session.confirm(question, yes)) return kFailed;
  const auto answer = post_agent(session, id, "/revoke");
  if (session.printed(answer)) return kOk;
  auto& out = session.console.out();
  out << "Agent " << printable(name) << " is revoked.\n";
  const auto cancelled = number(answer.json, "cancelled_writes"), left = number(answer.json, "writes_left");
  if (cancelled > 0)
    out << fmt::format("{} waiting {} cancelled.\n", cancelled, cancelled == 1 ? "write is" : "writes are");
  if (left > 0)
    out << fmt::format("{} {} can no longer be cancelled: kruxos approve list shows what becomes of {}.\n", left,
                       left == 1 ? "write" : "writes", left == 1 ? "it" : "them");
  return kOk;
}

int pause_agents(const Session& session, const PauseArguments& arguments) {
  must_be_named(arguments);
  const auto body =
      arguments.reason.empty() ? std::string() : fmt::format(R"({{"reason":{}}})", json_string(arguments.reason));
  const auto answer =
      arguments.all ? session.host.post("/v1/pause", body) : post_agent(session, arguments.agent, "/pause", body);
  if (session.printed(answer)) return kOk;
  auto& out = session.console.out();
  if (arguments.all) {
    tell_of_pause_of_all(session, answer.json);
    return kOk;
  }
  const auto& agent = part(answer.json, "agent");
  out << fmt::format("Agent {} is paused {}. Its calls are refused, and its writes are held: kruxos agent resume {}\n",
                     printable(text(agent, "name")), printable(pause_words(session, part(agent, "paused"))),
                     printable(text(agent, "name")));
  return kOk;
}

int resume_agents(const Session& session, const PauseArguments& arguments) {
  must_be_named(arguments);
  const auto answer = arguments.all ? session.host.post("/v1/resume") : post_agent(session, arguments.agent, "/resume");
  if (session.printed(answer)) return kOk;
  auto& out = session.console.out();
  if (arguments.all) {
    out << "Agents are no longer paused all together. What is due goes out.\n";
    tell_of_paused(session, answer.json);
    return kOk;
  }
  const bool all_paused = !part(answer.json, "all_paused").ObjectEmpty();
  out << fmt::format("Agent {} is no longer paused by itself.{}\n", printable(text(part(answer.json, "agent"), "name")),
                     all_paused ? "" : " What is due goes out.");
  tell_of_pause_of_all(session, answer.json);
  return kOk;
}

}  // namespace krux::cli
