// The operator's decisions about writes, one or many.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/write_output.hpp"
#include "host/cli/write_pages.hpp"
#include "host/gateway/http_types.hpp"

namespace krux::cli {
namespace {

/// With a question: as many as one can look through before one answers it.
constexpr std::size_t kShownAtOnce = 20;

/// What is decided about: as it was shown, or as the host has it where nothing is shown.
struct Target {
  std::string write_id, content_hash;
};

/// The state that writes must be in for the decision.
const char* state_for(const std::string& decision) {
  return decision == "accept" || decision == "reject" ? "pending_approval" : "dead_letter";
}

std::string question_for(const std::string& decision, std::size_t writes, bool may_have_happened) {
  const auto what = writes == 1 ? std::string("it") : fmt::format("these {} writes", writes);
  if (decision == "accept") return fmt::format("Accept {}?", what);
  if (decision == "reject") return fmt::format("Reject {}?", what);
  if (decision == "discard") return fmt::format("Give {} up? Nothing of it will be sent again.", what);
  return fmt::format("Try {} again now?{}", what,
                     may_have_happened ? " What an earlier attempt has done then happens twice." : "");
}

std::string body_of(const DecisionOptions& options, const std::vector<Target>& targets) {
  const bool about_dead_letters = options.decision == "resend" || options.decision == "discard";
  const auto state =
      about_dead_letters ? fmt::format(R"(,"expected_state":"{}")", state_for(options.decision)) : std::string();
  std::string list;
  for (const auto& target : targets) {
    list += fmt::format(R"({}{{"write_id":{},"content_hash":{}{}}})", list.empty() ? "" : ",",
                        json_string(target.write_id), json_string(target.content_hash), state);
  }
  const auto reason = options.reason.empty() ? std::string() : ",\"reason\":" + json_string(options.reason);
  return fmt::format(R"({{"decision":"{}","writes":[{}]{}}})", options.decision, list, reason);
}

/// One command's decision, taken in steps of as many writes as are asked about at once.
class Deciding {
 public:
  Deciding(const Session& session, const DecisionOptions& options)
      : session_(session), options_(options), at_once_(options.yes ? WritePages::kLargest : kShownAtOnce) {}

  int run() {
    const bool all = options_.all ? about_all() : about_named();
    if (session_.json) session_.console.out() << "{\"results\":[" << results_ << "]}\n";
    return !all ? kFailed : failed_ ? kConflict : kOk;
  }

 private:
  bool about_named() {
    const auto& ids = options_.ids;
    for (std::size_t at = 0; at < ids.size(); at += at_once_) {
      const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(at + at_once_, ids.size()));
      if (!step({ids.begin() + static_cast<std::ptrdiff_t>(at), end})) return false;
    }
    return true;
  }
  bool about_all() {
    auto query = fmt::format("state={}", state_for(options_.decision));
    if (!options_.service.empty()) query += "&service=" + url_encode(options_.service);
    if (!options_.agent.empty()) query += "&agent=" + url_encode(options_.agent);
    WritePages pages(session_.host, query, at_once_);
    bool any = false;
    while (const auto page = pages.next()) {
      any = true;
      const auto& writes = items(page->json, "writes");
      if (options_.yes ? !decide(listed(writes)) : !step(ids_of(writes))) return false;
    }
    if (!any) session_.console.err() << fmt::format("No write is {}.\n", state_for(options_.decision));
    return true;
  }

  static std::vector<Target> listed(const JsonValue& page) {
    std::vector<Target> targets;
    for (const auto& write : page.GetArray()) targets.push_back({text(write, "write_id"), text(write, "content_hash")});
    return targets;
  }
  static std::vector<std::string> ids_of(const JsonValue& page) {
    std::vector<std::string> ids;
    for (const auto& write : page.GetArray()) ids.push_back(text(write, "write_id"));
    return ids;
  }

  /// Gets each as the host has it now, shows it whole, and asks once about them.
  bool step(const std::vector<std::string>& ids) {
    std::vector<Target> targets;
    bool may_have_happened = false;
    for (const auto& id : ids) {
      const auto answer = session_.host.get(write_path(id));
      const auto& write = part(answer.json, "write");
      targets.push_back({text(write, "write_id"), text(write, "content_hash")});
      may_have_happened = may_have_happened || flag(write, "closed");
      if (options_.yes) continue;
      print_write(session_, write);
      session_.console.out() << "\n";
      must_be_open_to_it(write);
    }
    if (!session_.confirm(question_for(options_.decision, targets.size(), may_have_happened), options_.yes))
      return false;
    return decide(targets);
  }

  /// The host refuses it as well, but there is no sense in asking. A write that --all met may have gone on since.
  void must_be_open_to_it(const JsonValue& write) const {
    const auto state = text(write, "state");
    if (options_.all || state == state_for(options_.decision)) return;
    throw CliError(kConflict,
                   fmt::format("Write {} is {}, not {}, so that nothing was asked and nothing decided.{}",
                               printable(text(write, "write_id")), printable(state), state_for(options_.decision),
                               state == "unknown" ? " Decide with: kruxos approve resolve" : ""));
  }

  bool decide(const std::vector<Target>& targets) {
    const auto answer = session_.host.post("/v1/decisions", body_of(options_, targets));
    for (const auto& result : items(answer.json, "results").GetArray()) note(result);
    return true;
  }

  void note(const JsonValue& result) {
    const auto& error = part(result, "error");
    failed_ = failed_ || !error.ObjectEmpty();
    const auto id = printable(text(result, "write_id"));
    if (session_.json) {
      results_ += (results_.empty() ? "" : ",") + to_json(result);
    } else if (error.ObjectEmpty()) {
      session_.console.out() << (options_.decision == "resend"
                                     ? fmt::format("Write {} is tried again now.\n", id)
                                     : fmt::format("Write {} is now {}.\n", id, printable(text(result, "state"))));
    } else {
      session_.console.err() << fmt::format("Write {}: {}\n", id, printable(text(error, "message")));
    }
  }

  const Session& session_;
  const DecisionOptions& options_;
  const std::size_t at_once_;
  std::string results_;
  bool failed_ = false;
};

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
  if (!options.yes && !session.console.reads_terminal())
    throw CliError(kUsage, "This decision is a person's, and there is no terminal to ask on: add --yes.");
  if (!options.yes && session.json)
    throw CliError(kUsage, "With --json nothing is shown that you could decide about: add --yes.");
  return Deciding(session, options).run();
}

int edit_write(const Session& session, const std::string& id, const std::vector<std::string>& assignments, bool yes) {
  const auto changes = changes_of(assignments);
  const auto before = session.host.get(write_path(id));
  const auto& write = part(before.json, "write");
  if (!yes && !session.json && session.console.reads_terminal()) {
    print_write(session, write);
    session.console.out() << "\n";
    print_change(session, part(write, "params"), parse_json(changes, "the change"));
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
  JsonDocument writes(rapidjson::kArrayType);
  const auto query = "state=dead_letter" + (service.empty() ? "" : "&service=" + url_encode(service));
  const bool whole = all_writes(session.host, query, writes);
  if (session.json) {
    session.console.out() << "{\"writes\":" << to_json(writes) << "}\n";
    return whole ? kOk : tell_of_older(session);
  }
  if (writes.Empty()) {
    session.console.out() << "No write is in the dead letter queue.\n";
    return kOk;
  }
  session.console.out() << "The last attempt of these did not happen. Those with a time are tried again by themselves; "
                           "the others wait for you (kruxos dlq retry|discard ID).\n";
  Table table(
      {{"ID"}, {"AGENT"}, {"OPERATION"}, {"CONTENT", false, true}, {"TRIES", true}, {"NEXT"}, {"WHY", false, true}});
  for (const auto& write : writes.GetArray()) {
    const auto& error = part(write, "error");
    table.add({text(write, "write_id"), text(write, "agent"), text(write, "operation"), text(write, "summary"),
               std::to_string(number(write, "attempts")),
               flag(write, "needs_person") ? "waits for you" : relative(number(write, "due_at_ms"), session.now_ms),
               fmt::format("{}{}: {}", flag(write, "closed") ? "an earlier attempt may have had its effect; " : "",
                           text(error, "type"), text(error, "message"))});
  }
  table.print(session.console);
  return whole ? kOk : tell_of_older(session);
}

}  // namespace krux::cli
