// The operator's decisions about writes, one or many.
#include <fmt/format.h>

#include <ostream>

#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/write_output.hpp"
#include "host/gateway/http_types.hpp"

namespace krux::cli {
namespace {

constexpr int kMostAtOnce = 500;

/// The state that writes must be in for the decision to be offered with --all.
const char* state_for(const std::string& decision) {
  return decision == "accept" || decision == "reject" ? "pending_approval" : "dead_letter";
}

std::string question_for(const std::string& decision, std::size_t writes) {
  const auto what = writes == 1 ? std::string("it") : fmt::format("these {} writes", writes);
  if (decision == "accept") return fmt::format("Accept {}?", what);
  if (decision == "reject") return fmt::format("Reject {}?", what);
  if (decision == "discard") return fmt::format("Give {} up? Nothing of it will be sent again.", what);
  return fmt::format("Try {} again now?", what);
}

/// Each one as the host has it now, so that what is decided is what was shown.
JsonDocument shown_writes(const Session& session, const DecisionOptions& options) {
  JsonDocument shown(rapidjson::kArrayType);
  const auto keep = [&](const JsonValue& write) {
    shown.PushBack(JsonValue(write, shown.GetAllocator()), shown.GetAllocator());
  };
  for (const auto& id : options.ids) keep(part(session.host.get(write_path(id)).json, "write"));
  if (!options.all) return shown;
  auto query = fmt::format("/v1/writes?state={}&limit={}", state_for(options.decision), kMostAtOnce);
  if (!options.service.empty()) query += "&service=" + url_encode(options.service);
  if (!options.agent.empty()) query += "&agent=" + url_encode(options.agent);
  const auto answer = session.host.get(query);
  for (const auto& write : items(answer.json, "writes").GetArray()) keep(write);
  return shown;
}

std::string body_of(const DecisionOptions& options, const JsonValue& writes) {
  std::string list;
  for (const auto& write : writes.GetArray()) {
    list += fmt::format(R"({}{{"write_id":{},"content_hash":{}}})", list.empty() ? "" : ",",
                        json_string(text(write, "write_id")), json_string(text(write, "content_hash")));
  }
  const auto reason = options.reason.empty() ? std::string() : ",\"reason\":" + json_string(options.reason);
  return fmt::format(R"({{"decision":"{}","writes":[{}]{}}})", options.decision, list, reason);
}

int print_results(const Session& session, const HostAnswer& answer) {
  bool failed = false;
  for (const auto& result : items(answer.json, "results").GetArray()) {
    const auto& error = part(result, "error");
    failed = failed || !error.ObjectEmpty();
    if (session.json) continue;
    const auto id = printable(text(result, "write_id"));
    if (error.ObjectEmpty()) {
      session.console.out() << fmt::format("Write {} is now {}.\n", id, printable(text(result, "state")));
    } else {
      session.console.err() << fmt::format("Write {}: {}\n", id, printable(text(error, "message")));
    }
  }
  if (session.json) session.console.out() << answer.text << "\n";
  return failed ? kConflict : kOk;
}

/// "text=hello" sets a text, "count:=3" a JSON value, "note:=null" takes one back to its default.
std::string changes_of(const std::vector<std::string>& assignments) {
  std::string out;
  for (const auto& assignment : assignments) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0)
      throw CliError(kUsage,
                     fmt::format("\"{}\" changes nothing: write NAME=TEXT or NAME:=JSON.", printable(assignment)));
    const bool json = assignment[equals - 1] == ':';
    const auto name = assignment.substr(0, equals - (json ? 1 : 0));
    const auto value = assignment.substr(equals + 1);
    try {
      if (json) parse_json(value, name);
      out += (out.empty() ? "" : ",") + json_string(name) + ":" + (json ? value : json_string(value));
    } catch (const Error& error) {
      throw CliError(kUsage, error.what());
    }
  }
  return "{" + out + "}";
}

}  // namespace

int decide_writes(const Session& session, const DecisionOptions& options) {
  if (options.ids.empty() != options.all) throw CliError(kUsage, "Name the writes, or give --all.");
  const auto writes = shown_writes(session, options);
  if (writes.Empty()) {
    session.console.err() << fmt::format("No write is {}.\n", state_for(options.decision));
    return kOk;
  }
  if (!options.yes && !session.console.reads_terminal())
    throw CliError(kUsage, "This decision is a person's, and there is no terminal to ask on: add --yes.");
  if (!options.yes && !session.json) {
    if (writes.Size() == 1) {
      print_write(session, writes[0]);
    } else {
      print_writes(session, "To be decided", "DUE", writes);
    }
  }
  if (!session.confirm(question_for(options.decision, writes.Size()), options.yes)) return kFailed;
  return print_results(session, session.host.post("/v1/decisions", body_of(options, writes)));
}

int edit_write(const Session& session, const std::string& id, const std::vector<std::string>& assignments, bool yes) {
  const auto changes = changes_of(assignments);
  const auto before = session.host.get(write_path(id));
  const auto& write = part(before.json, "write");
  if (!yes && !session.json && session.console.reads_terminal()) {
    print_write(session, write);
    session.console.out() << "\n";
    print_change(session, part(write, "params_shown"), parse_json(changes, "the change"));
  }
  if (!session.confirm("Change it?", yes)) return kFailed;
  const auto answer = session.host.post(
      write_path(id, "/edit"),
      fmt::format(R"({{"content_hash":{},"arguments":{}}})", json_string(text(write, "content_hash")), changes));
  return report_write(session, answer);
}

int rollback_write(const Session& session, const std::string& id, bool force, bool yes) {
  if (!yes && !session.json && session.console.reads_terminal()) {
    print_write(session, part(session.host.get(write_path(id)).json, "write"));
    session.console.out() << "\n";
  }
  const auto* question = force ? "Undo it at the service, even if it was changed since?" : "Undo it at the service?";
  if (!session.confirm(question, yes)) return kFailed;
  const auto answer =
      session.host.post(write_path(id, "/rollback"), fmt::format(R"({{"force":{}}})", force ? "true" : "false"));
  const auto& undo = part(answer.json, "write");
  const bool done = text(undo, "state") == "completed";
  if (session.printed(answer)) return done ? kOk : kFailed;
  if (done) {
    session.console.out() << fmt::format("Write {} is undone ({}).\n", printable(id),
                                         printable(text(undo, "write_id")));
    return kOk;
  }
  const auto& error = part(undo, "error");
  session.console.err() << fmt::format("Write {} is not undone: {} is {}. {}\n", printable(id),
                                       printable(text(undo, "write_id")), printable(text(undo, "state")),
                                       printable(text(error, "message")));
  return text(error, "type") == "RollbackConflict" ? kConflict : kFailed;
}

int list_dead_letters(const Session& session, const std::string& service) {
  const auto answer = session.host.get("/v1/writes?state=dead_letter&limit=500" +
                                       (service.empty() ? "" : "&service=" + url_encode(service)));
  if (session.printed(answer)) return kOk;
  const auto& writes = items(answer.json, "writes");
  if (writes.Empty()) {
    session.console.out() << "No write is in the dead letter queue.\n";
    return kOk;
  }
  session.console.out() << "These did not happen. Those with a time are tried again by themselves; the others wait for "
                           "you (kruxos dlq retry|discard ID).\n";
  Table table(
      {{"ID"}, {"AGENT"}, {"OPERATION"}, {"CONTENT", false, true}, {"TRIES", true}, {"NEXT"}, {"WHY", false, true}});
  for (const auto& write : writes.GetArray()) {
    const auto& error = part(write, "error");
    table.add({text(write, "write_id"), text(write, "agent"), text(write, "operation"), text(write, "summary"),
               std::to_string(number(write, "attempts")),
               flag(write, "needs_person") ? "waits for you" : relative(number(write, "due_at_ms"), session.now_ms),
               fmt::format("{}: {}", text(error, "type"), text(error, "message"))});
  }
  table.print(session.console);
  return kOk;
}

}  // namespace krux::cli
