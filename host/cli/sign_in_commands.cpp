#include <fmt/format.h>

#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/ids.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

Cell decision_cell(const std::string& state) {
  return {state, state == "accepted" ? Style::kGood : state == "rejected" ? Style::kBad : Style::kWarn};
}

/// What vouches for the client: its document's address, or nobody.
std::string known_by(const JsonValue& request) {
  return flag(request, "has_document") ? text(request, "client_id") : "nobody: it has registered itself";
}

void show_requests(const Session& session, const JsonValue& answer) {
  Table table({id_column("REQUEST"),
               {"CODE"},
               {"STATE"},
               {"CALLS ITSELF", false, true},
               {"KNOWN BY", false, true},
               {"GOES BACK TO", false, true},
               {"FROM"},
               {"AGENT"},
               {"ENDS"}});
  for (const auto& request : items(answer, "requests").GetArray())
    table.add({text(request, "request_id"), text(request, "code"), decision_cell(text(request, "state")),
               text(request, "client_name"), known_by(request), text(request, "redirect_host"), text(request, "peer"),
               text(request, "agent"), relative(number(request, "expires_at_ms"), session.now_ms)});
  if (table.empty()) {
    session.console.out() << "Nobody waits to sign in.\n";
    return;
  }
  table.print(session.console);
}

void show_grants(const Session& session, const JsonValue& answer) {
  Table table({id_column("GRANT"),
               {"AGENT"},
               {"CALLS ITSELF", false, true},
               {"GOES BACK TO", false, true},
               {"BEGAN"},
               {"LAST SEEN"},
               {"STATE", false, true}});
  for (const auto& grant : items(answer, "grants").GetArray()) {
    const auto ended = number(grant, "ended_at_ms");
    const auto state =
        ended == 0 ? Cell("goes on", Style::kGood)
                   : Cell(fmt::format("ended {}: {}", relative(ended, session.now_ms), text(grant, "end_reason")),
                          Style::kDim);
    table.add({text(grant, "grant_id"), text(grant, "agent"), text(grant, "client_name"), text(grant, "redirect_host"),
               relative(number(grant, "begun_at_ms"), session.now_ms),
               relative(number(grant, "used_at_ms"), session.now_ms), state});
  }
  if (table.empty()) return;
  session.console.out() << "\n";
  table.print(session.console);
}

std::string target_of(std::string_view room, const std::string& name, std::string_view action) {
  return std::string("/v1/sign-in/").append(room).append(url_encode(name)).append(action);
}

/// Asked before anything is done: who wants in is what the operator decides about.
std::string question_of(const Session& session, const std::string& code, const std::string& agent) {
  const auto answer = session.host.get(target_of("", code, ""));
  const auto& request = part(answer.json, "request");
  return fmt::format(
      "{} calls itself \"{}\", is known by {}, and goes back to {}. It will act as the agent {}. Did you "
      "begin this yourself, and does its page show this code?",
      printable(text(request, "code")), printable(text(request, "client_name")), printable(known_by(request)),
      printable(text(request, "redirect_host")), printable(agent));
}

}  // namespace

int list_sign_in(const Session& session) {
  const auto answer = session.host.get("/v1/sign-in");
  if (session.printed(answer)) return kOk;
  if (!flag(answer.json, "enabled")) session.console.out() << "Sign-in is off (server.sign_in.enabled).\n";
  show_requests(session, answer.json);
  show_grants(session, answer.json);
  return kOk;
}

int accept_sign_in(const Session& session, const std::string& code, const std::string& named, bool yes) {
  const auto agent = whole_agent_id(session, named);
  if (!yes && session.console.reads_terminal() && !session.confirm(question_of(session, code, agent), yes))
    return kFailed;
  const auto answer =
      session.host.post(target_of("", code, "/accept"), fmt::format(R"({{"agent":{}}})", json_string(agent)));
  if (session.printed(answer)) return kOk;
  const auto& request = part(answer.json, "request");
  session.console.out() << fmt::format(
      "{} signs in as the {}agent {}. Its page goes on within seconds.\n", printable(text(request, "code")),
      flag(answer.json, "agent_is_new") ? "new " : "", printable(text(request, "agent")));
  return kOk;
}

int reject_sign_in(const Session& session, const std::string& given) {
  const auto code_or_id = whole_sign_in_id(session, given);
  const auto answer = session.host.post(target_of("", code_or_id, "/reject"));
  if (session.printed(answer)) return kOk;
  session.console.out() << printable(code_or_id) << " is refused.\n";
  return kOk;
}

int end_sign_in(const Session& session, const std::string& given, bool yes) {
  const auto grant_id = whole_sign_in_id(session, given);
  if (!session.confirm(fmt::format("What signed in with {} is shut out at once. Go on?", printable(grant_id)), yes))
    return kFailed;
  const auto answer = session.host.post(target_of("grants/", grant_id, "/end"));
  if (session.printed(answer)) return kOk;
  const auto& grant = part(answer.json, "grant");
  session.console.out() << fmt::format("{} of agent {} has ended: {}.\n", printable(text(grant, "grant_id")),
                                       printable(text(grant, "agent")), printable(text(grant, "end_reason")));
  return kOk;
}

}  // namespace krux::cli
