#include <fmt/format.h>

#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/ids.hpp"
#include "host/cli/known_names.hpp"
#include "host/cli/write_output.hpp"
#include "host/cli/write_pages.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

constexpr std::string_view kPending = "held,pending_approval,buffered,executing,unknown,dead_letter";
constexpr std::string_view kEnded = "completed,failed,cancelled,rejected,rolled_back,discarded";

std::string query(std::string_view rest, const std::string& service) {
  return fmt::format("{}{}", rest, service.empty() ? "" : "&service=" + url_encode(service));
}

/// Shows on a terminal what is about to be decided. Returns its state then, else nothing.
std::string show_before(const Session& session, const std::string& id, bool yes) {
  if (yes || session.json || !session.console.reads_terminal()) return {};
  const auto answer = session.host.get(write_path(id));
  print_write(session, part(answer.json, "write"));
  session.console.out() << "\n";
  return text(part(answer.json, "write"), "state");
}

bool is_held(const JsonValue& write) {
  return flag(write, "held_as_copy");
}

bool is_asked(const JsonValue& write) {
  return text(write, "state") == "pending_approval" && !is_held(write);
}

const char* question_for(const std::string& decision) {
  if (decision == "resend") return "Send it again? If it did happen after all, it then happens twice.";
  if (decision == "discard") return "Give it up? It will not be sent again.";
  return "Record that it happened? It will not be sent again.";
}

}  // namespace

int list_writes(const Session& session, const std::string& service, int recent) {
  JsonDocument waiting(rapidjson::kArrayType), pending(rapidjson::kArrayType);
  const bool all_waiting = all_writes(session.host, query("needs_operator=1", service), waiting);
  const bool all_pending = all_writes(session.host, query(fmt::format("state={}", kPending), service), pending);
  const auto answer =
      session.host.get(fmt::format("/v1/writes?{}", query(fmt::format("state={}&limit={}", kEnded, recent), service)));
  const auto& ended = items(answer.json, "writes");
  const bool whole = all_waiting && all_pending;
  if (waiting.Empty() && pending.Empty() && ended.Empty()) must_narrow_to_something(session, service);
  if (session.json) {
    session.console.out() << fmt::format(R"({{"needs_operator":{0},"needs_person":{0},"pending":{1},"recent":{2}}})",
                                         to_json(waiting), to_json(pending), to_json(ended))
                          << "\n";
    return whole ? kOk : tell_of_older(session);
  }
  JsonDocument others(rapidjson::kArrayType), asked(rapidjson::kArrayType), undecided(rapidjson::kArrayType),
      held(rapidjson::kArrayType);
  const auto add = [](JsonDocument& list, const JsonValue& write) {
    list.PushBack(JsonValue(write, list.GetAllocator()), list.GetAllocator());
  };
  for (const auto& write : waiting.GetArray()) add(is_held(write) ? held : is_asked(write) ? asked : undecided, write);
  for (const auto& write : pending.GetArray()) {
    if (!flag(write, "needs_operator") && !is_asked(write)) add(others, write);
  }
  print_writes(session, "Waiting for your approval (kruxos approve accept|reject ID)", "SINCE", asked);
  print_writes(session, "Waiting for your decision (kruxos approve resolve ID)", "SINCE", undecided);
  print_writes(session, "Held, because this data directory may be a copy (kruxos held list)", "SINCE", held);
  print_writes(session, "Buffered and under way (kruxos approve cancel ID)", "DUE", others);
  print_writes(session, "Recent", "ENDED", ended);
  print_limits(session, session.host.get("/v1/limits").json, service);
  if (waiting.Empty() && others.Empty() && ended.Empty()) session.console.out() << "There are no writes.\n";
  return whole ? kOk : tell_of_older(session);
}

int show_write(const Session& session, const std::string& id) {
  const auto answer = session.host.get(write_path(whole_write_id(session, id)));
  if (session.printed(answer)) return kOk;
  const auto& write = part(answer.json, "write");
  print_write(session, write);
  print_history(session, items(write, "history"), number(write, "history_total"));
  print_edits(session, items(write, "edits"), number(write, "edits_total"));
  return kOk;
}

int cancel_write(const Session& session, const std::string& given, bool yes) {
  const auto id = whole_write_id(session, given);
  show_before(session, id, yes);
  if (!session.confirm("Cancel it?", yes)) return kFailed;
  return report_write(session, session.host.post(write_path(id, "/cancel")));
}

int decide_outcome(const Session& session, const std::string& given, const std::string& decision, bool yes) {
  if (!yes && !session.console.reads_terminal())
    throw CliError(kUsage, "This decision is a person's, and there is no terminal to ask on: add --yes.");
  if (!yes && session.json)
    throw CliError(kUsage, "With --json nothing is shown that you could decide about: add --yes.");
  const auto id = whole_write_id(session, given);
  const auto shown = show_before(session, id, yes);
  if (!session.confirm(question_for(decision), yes)) return kFailed;
  const auto expected = shown.empty() ? std::string() : ",\"expected_state\":" + json_string(shown);
  return report_write(session, session.host.post(write_path(id, "/resolve"),
                                                 fmt::format(R"({{"decision":"{}"{}}})", decision, expected)));
}

}  // namespace krux::cli
