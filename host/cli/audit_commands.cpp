// The audit log: what was asked for, who decided, what became of it; and whether it is as it was written.
#include <fmt/format.h>

#include <ostream>

#include "core/audit/chain.hpp"
#include "core/audit/verify.hpp"
#include "core/util/text.hpp"
#include "host/cli/audit_row.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/ids.hpp"
#include "host/cli/known_names.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

constexpr std::int64_t kRowsAtOnce = 1000;
constexpr int kVerifySeconds = 3600;

std::string target_of(const AuditArguments& a) {
  std::string target = fmt::format("/v1/audit?limit={}", a.limit);
  const auto add = [&target](const char* name, const std::string& value) {
    if (!value.empty()) target += fmt::format("&{}={}", name, url_encode(value));
  };
  add("agent", a.agent);
  add("service", a.service);
  add("write", a.write);
  add("kind", a.kind);
  add("since", a.since);
  add("until", a.until);
  return target;
}

std::string heads_in_words(const AuditCheck& check) {
  if (check.heads == 0)
    return "No signed head was compared: that the log was not written anew as a whole is not shown.\n";
  return fmt::format(
      "{} signed heads were compared; the newest is that of row {}, {}. What stands behind it rests on "
      "the log's and the ledger's word.\n",
      check.heads, check.newest_head, format_time(check.newest_head_ms));
}

int print_check(const Session& session, const AuditCheck& check) {
  auto& out = session.console.out();
  for (const auto& problem : check.problems) out << printable(problem.message) << "\n";
  if (check.more_problems) out << "There are more.\n";
  for (const auto& note : check.notes) session.console.err() << printable(note) << "\n";
  if (check.whole())
    out << fmt::format("The audit log is whole: {} rows, {} to {}, head {}.\n", check.rows, check.first, check.last,
                       hash_hex(check.head))
        << heads_in_words(check);
  return check.whole() ? kOk : kFailed;
}

AuditCheck check_of(const JsonValue& json) {
  AuditCheck check;
  check.rows = number(json, "rows");
  check.first = number(json, "first");
  check.last = number(json, "last");
  check.head = hash_of_hex(text(json, "head_hash")).value_or(AuditHash{});
  check.heads = number(json, "heads");
  check.newest_head = number(json, "newest_head");
  check.newest_head_ms = number(json, "newest_head_at_ms");
  check.more_problems = flag(json, "more_problems");
  for (const auto& problem : items(json, "problems").GetArray())
    check.problems.push_back({number(problem, "seq"), text(problem, "kind"), text(problem, "message")});
  for (const auto& note : items(json, "notes").GetArray()) check.notes.emplace_back(view(note));
  return check;
}

}  // namespace

int query_audit(const Session& session, const AuditArguments& given) {
  auto arguments = given;
  arguments.write = whole_write_id(session, given.write);
  arguments.agent = whole_agent_id(session, given.agent);
  const auto answer = session.host.get(target_of(arguments));
  if (items(answer.json, "rows").Empty()) must_narrow_to_something(session, arguments.service, arguments.agent);
  if (session.printed(answer)) return kOk;
  if (const auto problem = text(answer.json, "problem"); !problem.empty())
    session.console.err() << "The log cannot be written at present: " << printable(problem) << "\n";
  Table table({{"ROW", true}, {"TIME"}, {"KIND"}, {"AGENT"}, id_column("WRITE"), {"WHAT", false, true}});
  for (const auto& row : items(answer.json, "rows").GetArray())
    table.add({std::to_string(number(row, "seq")), text(row, "at"), text(row, "kind"), text(row, "agent"),
               text(row, "write_id"), audit_body_in_words(part(row, "body"))});
  if (table.empty()) {
    session.console.out() << "No row fits.\n";
    return kOk;
  }
  table.print(session.console);
  return kOk;
}

int verify_audit_log(const Session& session, const AuditArguments& arguments) {
  if (!arguments.file.empty()) {
    const auto check = verify_audit(arguments.file, {{}, arguments.anchors, arguments.key, true});
    if (!session.json) return print_check(session, check);
    session.console.out() << audit_check_json(check) << "\n";
    return check.whole() ? kOk : kFailed;
  }
  const auto answer = session.host.with_timeout(kVerifySeconds).post("/v1/audit/verify");
  const auto check = check_of(answer.json);
  if (session.printed(answer)) return check.whole() ? kOk : kFailed;
  return print_check(session, check);
}

int export_audit(const Session& session, const AuditArguments& arguments) {
  auto after = arguments.after;
  for (std::size_t count = kRowsAtOnce; count == kRowsAtOnce;) {
    const auto answer = session.host.get(fmt::format("/v1/audit/export?after={}&limit={}", after, kRowsAtOnce));
    const auto& rows = items(answer.json, "rows");
    count = rows.Size();
    for (const auto& row : rows.GetArray()) {
      session.console.out() << to_json(row) << "\n";
      after = number(row, "seq");
    }
    if (!session.console.out()) break;
  }
  return kOk;
}

}  // namespace krux::cli
