#include <fmt/format.h>

#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/write_output.hpp"
#include "host/gateway/http_types.hpp"

namespace krux::cli {
namespace {

constexpr std::string_view kPending = "held,pending_approval,buffered,executing,unknown,dead_letter";
constexpr std::string_view kEnded = "completed,failed,cancelled,rejected,rolled_back,discarded";

std::string query(std::string_view rest, const std::string& service) {
  return fmt::format("/v1/writes?{}{}", rest, service.empty() ? "" : "&service=" + url_encode(service));
}

/// Shows on a terminal what is about to be decided.
void show_before(const Session& session, const std::string& id, bool yes) {
  if (yes || session.json || !session.console.reads_terminal()) return;
  const auto answer = session.host.get(write_path(id));
  print_write(session, part(answer.json, "write"));
  session.console.out() << "\n";
}

const char* question_for(const std::string& decision) {
  if (decision == "resend") return "Send it again? If it did happen after all, it then happens twice.";
  if (decision == "discard") return "Give it up? It will not be sent again.";
  return "Record that it happened? It will not be sent again.";
}

}  // namespace

int list_writes(const Session& session, const std::string& service, int recent) {
  const auto waiting = session.host.get(query("needs_person=1&limit=500", service));
  const auto pending = session.host.get(query(fmt::format("state={}&limit=500", kPending), service));
  const auto ended = session.host.get(query(fmt::format("state={}&limit={}", kEnded, recent), service));
  if (session.json) {
    session.console.out() << fmt::format(R"({{"needs_person":{},"pending":{},"recent":{}}})",
                                         to_json(items(waiting.json, "writes")), to_json(items(pending.json, "writes")),
                                         to_json(items(ended.json, "writes")))
                          << "\n";
    return kOk;
  }
  JsonDocument others(rapidjson::kArrayType), asked(rapidjson::kArrayType);
  for (const auto& write : items(pending.json, "writes").GetArray()) {
    if (flag(write, "needs_person")) continue;
    auto& list = text(write, "state") == "pending_approval" ? asked : others;
    list.PushBack(JsonValue(write, list.GetAllocator()), list.GetAllocator());
  }
  print_writes(session, "Waiting for your approval (kruxos approve accept|reject ID)", "SINCE", asked);
  print_writes(session, "Waiting for your decision (kruxos approve resolve ID)", "SINCE",
               items(waiting.json, "writes"));
  print_writes(session, "Buffered and under way (kruxos approve cancel ID)", "DUE", others);
  print_writes(session, "Recent", "ENDED", items(ended.json, "writes"));
  print_limits(session, session.host.get("/v1/limits").json, service);
  if (items(waiting.json, "writes").Empty() && asked.Empty() && others.Empty() && items(ended.json, "writes").Empty())
    session.console.out() << "There are no writes.\n";
  return kOk;
}

int show_write(const Session& session, const std::string& id) {
  const auto answer = session.host.get(write_path(id));
  if (session.printed(answer)) return kOk;
  print_write(session, part(answer.json, "write"));
  print_history(session, items(part(answer.json, "write"), "history"));
  print_edits(session, items(part(answer.json, "write"), "edits"));
  return kOk;
}

int cancel_write(const Session& session, const std::string& id, bool yes) {
  show_before(session, id, yes);
  if (!session.confirm("Cancel it?", yes)) return kFailed;
  return report_write(session, session.host.post(write_path(id, "/cancel")));
}

int resolve_write(const Session& session, const std::string& id, const std::string& decision, bool yes) {
  if (!yes && !session.console.reads_terminal())
    throw CliError(kUsage, "This decision is a person's, and there is no terminal to ask on: add --yes.");
  show_before(session, id, yes);
  if (!session.confirm(question_for(decision), yes)) return kFailed;
  return report_write(session,
                      session.host.post(write_path(id, "/resolve"), fmt::format(R"({{"decision":"{}"}})", decision)));
}

}  // namespace krux::cli
