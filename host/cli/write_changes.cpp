// What an operator changes of a write: its content before it begins, its effect once it ran.
#include <fmt/format.h>

#include <ostream>

#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/ids.hpp"
#include "host/cli/write_output.hpp"

namespace krux::cli {
namespace {

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

int edit_write(const Session& session, const std::string& given, const std::vector<std::string>& assignments,
               bool yes) {
  const auto changes = changes_of(assignments);
  const auto id = whole_write_id(session, given);
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

int rollback_write(const Session& session, const std::string& given, bool force, bool yes) {
  const auto id = whole_write_id(session, given);
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
  return ErrorType::named(text(error, "type")) == ErrorCode::kRollbackConflict ? kConflict : kFailed;
}

}  // namespace krux::cli
