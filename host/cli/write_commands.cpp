#include <fmt/format.h>

#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/gateway/http_types.hpp"

namespace krux::cli {
namespace {

constexpr std::string_view kPending = "held,pending_approval,buffered,executing,unknown,dead_letter";
constexpr std::string_view kEnded = "completed,failed,cancelled,rejected,rolled_back,discarded";

std::string target(const std::string& id, std::string_view action = {}) {
  return std::string("/v1/writes/").append(url_encode(id)).append(action);
}

std::string query(std::string_view rest, const std::string& service) {
  return fmt::format("/v1/writes?{}{}", rest, service.empty() ? "" : "&service=" + url_encode(service));
}

Style style_of(const std::string& state) {
  if (state == "completed") return Style::kGood;
  if (state == "unknown" || state == "dead_letter") return Style::kWarn;
  if (state == "failed" || state == "rejected") return Style::kBad;
  return state == "buffered" || state == "executing" ? Style::kPlain : Style::kDim;
}

/// When the state of a pending write changes by itself, since when nobody knows, or when it ended.
std::string time_of(const JsonValue& write, std::int64_t now_ms) {
  const auto ended = number(write, "ended_at_ms");
  if (ended != 0) return relative(ended, now_ms);
  if (flag(write, "needs_person") && number(write, "unknown_since_ms") != 0)
    return relative(number(write, "unknown_since_ms"), now_ms);
  return text(write, "state") == "executing" ? "now" : relative(number(write, "due_at_ms"), now_ms);
}

void print_writes(const Session& session, const char* title, const char* time_title, const JsonValue& writes) {
  if (writes.Empty()) return;
  session.console.out() << styled(session.console, title, Style::kBold) << "\n";
  Table table({{"ID"}, {"AGENT"}, {"OPERATION"}, {"CONTENT", false, true}, {"STATE"}, {time_title}});
  for (const auto& write : writes.GetArray()) {
    const auto state = text(write, "state");
    table.add({text(write, "write_id"),
               text(write, "agent"),
               text(write, "operation"),
               text(write, "summary"),
               {state, style_of(state)},
               time_of(write, session.now_ms)});
  }
  table.print(session.console);
  session.console.out() << "\n";
}

/// What would be sent, a line for each parameter.
void add_content(Listing& listing, const JsonValue& parameters) {
  for (const auto& parameter : parameters.GetObject()) {
    const auto& value = parameter.value;
    listing.add("  " + printable(view(parameter.name)), value.IsString() ? std::string(view(value)) : to_json(value));
  }
}

void print_write(const Session& session, const JsonValue& write) {
  const auto now = session.now_ms;
  const auto state = text(write, "state");
  const auto& error = part(write, "error");
  Listing listing;
  listing.add("Write", text(write, "write_id"));
  listing.add("State", {flag(write, "needs_person") ? state + ", waits for your decision" : state, style_of(state)});
  listing.add("Agent", text(write, "agent"));
  listing.add("Account", fmt::format("{} {}", text(write, "service"), text(write, "account_id")));
  listing.add("Operation", text(write, "operation"));
  add_content(listing, part(write, "params"));
  listing.add("Hash", text(write, "content_hash"));
  listing.add("Created", moment(number(write, "created_at_ms"), now));
  if (number(write, "ended_at_ms") == 0) listing.add_unless_empty("Due", moment(number(write, "due_at_ms"), now));
  listing.add_unless_empty("Ended", moment(number(write, "ended_at_ms"), now));
  listing.add_unless_empty("By", text(write, "decided_by"));
  if (!text(error, "message").empty())
    listing.add("Error", {fmt::format("{}: {}", text(error, "type"), text(error, "message")), Style::kBad});
  const auto& result = part(write, "result");
  if (!result.ObjectEmpty()) listing.add("Result", to_json(result));
  listing.print(session.console);
}

void print_history(const Session& session, const JsonValue& history) {
  if (history.Empty()) return;
  session.console.out() << "\n";
  Table table({{"HISTORY"}, {"#", true}, {"BEGAN"}, {"OUTCOME"}, {"", false, true}});
  for (const auto& record : history.GetArray()) {
    const auto attempt = number(record, "attempt");
    const auto who = text(record, "who");
    table.add({text(record, "kind"), attempt > 0 ? std::to_string(attempt) : "",
               relative(number(record, "started_at_ms"), session.now_ms), text(record, "outcome"),
               who.empty() ? text(record, "message") : fmt::format("{} {}", who, text(record, "message"))});
  }
  table.print(session.console);
}

/// Shows on a terminal what is about to be decided.
void show_before(const Session& session, const std::string& id, bool yes) {
  if (yes || session.json || !session.console.reads_terminal()) return;
  const auto answer = session.host.get(target(id));
  print_write(session, part(answer.json, "write"));
  session.console.out() << "\n";
}

int report(const Session& session, const HostAnswer& answer) {
  if (session.printed(answer)) return kOk;
  const auto& write = part(answer.json, "write");
  session.console.out() << fmt::format("Write {} is now {}.\n", printable(text(write, "write_id")),
                                       printable(text(write, "state")));
  return kOk;
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
  JsonDocument others(rapidjson::kArrayType);
  for (const auto& write : items(pending.json, "writes").GetArray()) {
    if (!flag(write, "needs_person")) others.PushBack(JsonValue(write, others.GetAllocator()), others.GetAllocator());
  }
  print_writes(session, "Waiting for your decision (kruxos approve resolve ID)", "SINCE",
               items(waiting.json, "writes"));
  print_writes(session, "Buffered and under way (kruxos approve cancel ID)", "DUE", others);
  print_writes(session, "Recent", "ENDED", items(ended.json, "writes"));
  if (items(waiting.json, "writes").Empty() && others.Empty() && items(ended.json, "writes").Empty())
    session.console.out() << "There are no writes.\n";
  return kOk;
}

int show_write(const Session& session, const std::string& id) {
  const auto answer = session.host.get(target(id));
  if (session.printed(answer)) return kOk;
  print_write(session, part(answer.json, "write"));
  print_history(session, items(part(answer.json, "write"), "history"));
  return kOk;
}

int cancel_write(const Session& session, const std::string& id, bool yes) {
  show_before(session, id, yes);
  if (!session.confirm("Cancel it?", yes)) return kFailed;
  return report(session, session.host.post(target(id, "/cancel")));
}

int resolve_write(const Session& session, const std::string& id, const std::string& decision, bool yes) {
  if (!yes && !session.console.reads_terminal())
    throw CliError(kUsage, "This decision is a person's, and there is no terminal to ask on: add --yes.");
  show_before(session, id, yes);
  if (!session.confirm(question_for(decision), yes)) return kFailed;
  return report(session, session.host.post(target(id, "/resolve"), fmt::format(R"({{"decision":"{}"}})", decision)));
}

}  // namespace krux::cli
