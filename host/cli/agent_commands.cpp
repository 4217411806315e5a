#include <fmt/format.h>

#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

Cell state_of(const JsonValue& agent) {
  return flag(agent, "revoked") ? Cell("revoked", Style::kBad) : Cell("active", Style::kGood);
}

std::string target(const std::string& name, std::string_view action = {}) {
  return std::string("/v1/agents/").append(url_encode(name)).append(action);
}

/// The key goes to standard output alone, so that it can be caught by a script.
int show_key(const Session& session, const HostAnswer& answer, std::string_view what) {
  if (session.printed(answer)) return kOk;
  const auto& agent = part(answer.json, "agent");
  session.console.err() << fmt::format("{} {} ({}). Its key is shown this once only:\n", what,
                                       printable(text(agent, "name")), printable(text(agent, "agent_id")));
  session.console.out() << printable(text(answer.json, "key")) << "\n";
  return kOk;
}

}  // namespace

int create_agent(const Session& session, const std::string& name) {
  const auto body = fmt::format(R"({{"name":{}}})", json_string(name));
  return show_key(session, session.host.post("/v1/agents", body), "Created agent");
}

int list_agents(const Session& session) {
  const auto answer = session.host.get("/v1/agents");
  if (session.printed(answer)) return kOk;
  Table table({{"NAME", false, true}, {"ID"}, {"STATE"}, {"CREATED"}, {"LAST SEEN"}});
  for (const auto& agent : items(answer.json, "agents").GetArray()) {
    table.add({text(agent, "name"), text(agent, "agent_id"), state_of(agent),
               relative(number(agent, "created_at_ms"), session.now_ms),
               relative(number(agent, "last_seen_ms"), session.now_ms)});
  }
  if (table.empty()) {
    session.console.out() << "There are no agents yet: kruxos agent create NAME\n";
    return kOk;
  }
  table.print(session.console);
  return kOk;
}

int show_agent(const Session& session, const std::string& name) {
  const auto answer = session.host.get(target(name));
  if (session.printed(answer)) return kOk;
  const auto& agent = part(answer.json, "agent");
  Listing listing;
  listing.add("Name", text(agent, "name"));
  listing.add("Id", text(agent, "agent_id"));
  listing.add("State", state_of(agent));
  listing.add("Created", moment(number(agent, "created_at_ms"), session.now_ms));
  listing.add_unless_empty("Last seen", moment(number(agent, "last_seen_ms"), session.now_ms));
  listing.add_unless_empty("Revoked", moment(number(agent, "revoked_at_ms"), session.now_ms));
  listing.print(session.console);
  return kOk;
}

int rotate_agent(const Session& session, const std::string& name, bool yes) {
  if (!session.confirm(fmt::format("The present key of {} ends at once. Go on?", printable(name)), yes)) return kFailed;
  return show_key(session, session.host.post(target(name, "/rotate")), "Made a new key for agent");
}

int revoke_agent(const Session& session, const std::string& name, bool yes) {
  const auto question =
      fmt::format("{} is shut out for good, and its waiting writes are cancelled. Go on?", printable(name));
  if (!session.confirm(question, yes)) return kFailed;
  const auto answer = session.host.post(target(name, "/revoke"));
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

}  // namespace krux::cli
