#include <fmt/format.h>

#include <chrono>
#include <ostream>

#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/known_names.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

constexpr int kPollMs = 200;

std::string sync_line(const JsonValue& account) {
  const auto total = number(account, "parts_total"), done = number(account, "parts_done");
  const auto phase = text(account, "phase");
  const auto next = phase == "waiting" || phase == "backing_off" ? text(account, "last_error") : std::string();
  return fmt::format("{}: {}{}{}{}", text(account, "account_name"), phase, flag(account, "full") ? ", full sync" : "",
                     total > 0 ? fmt::format(", {} of {}", done, total) : "", next.empty() ? "" : " - " + next);
}

const JsonValue* account_in(const JsonValue& answer, const std::string& id) {
  for (const auto& account : items(answer, "accounts").GetArray()) {
    if (text(account, "account_id") == id) return &account;
  }
  return nullptr;
}

/// Whether each account has passed since `before`; throws when one failed instead.
bool all_passed(const JsonValue& before, const JsonValue& now) {
  bool all = true;
  for (const auto& old : items(before, "accounts").GetArray()) {
    const auto* account = account_in(now, text(old, "account_id"));
    if (!account) throw CliError(kFailed, "The account was disconnected while it was synced.");
    if (number(*account, "passes") > number(old, "passes")) continue;
    const auto phase = text(*account, "phase");
    const bool failed = number(*account, "failures_in_a_row") > number(old, "failures_in_a_row");
    if (failed || phase == "refused")
      throw CliError(kFailed, fmt::format("The sync of {} failed: {}", printable(text(*account, "account_name")),
                                          printable(text(*account, "last_error"))));
    all = false;
  }
  return all;
}

/// "40 messages (12 built anew), 3 channels"
std::string records_of(const JsonValue& account) {
  std::string out;
  const auto* building = find_member(account, "building");
  for (const auto& [name, count] : part(account, "records").GetObject()) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count.IsInt64() ? count.GetInt64() : 0, view(name));
    const auto anew = building ? find_int(*building, view(name)) : std::nullopt;
    if (anew) out += fmt::format(" ({} built anew)", *anew);
  }
  return out;
}

void print_sync(const Session& session, const JsonValue& sync, std::int64_t now_ms) {
  Table table(
      {{"ACCOUNT", false, true}, {"PHASE"}, {"PROGRESS", true}, {"RECORDS", false, true}, {"SYNCED"}, {"NEXT"}});
  Table problems({{"PROBLEM", false, true}, {"", false, true}});
  for (const auto& account : items(sync, "accounts").GetArray()) {
    const auto total = number(account, "parts_total");
    const auto name = text(account, "account_name"), error = text(account, "last_error");
    table.add({name, text(account, "phase"),
               total > 0 ? fmt::format("{}/{}", number(account, "parts_done"), total) : "-", records_of(account),
               synced(account, now_ms), relative(number(account, "next_at_ms"), now_ms)});
    if (!error.empty()) problems.add({{name, Style::kWarn}, error});
    for (const auto& problem : items(account, "problems").GetArray())
      problems.add({{text(problem, "part"), Style::kWarn}, text(problem, "message")});
    const auto left_out = number(account, "left_out");
    if (left_out > 0) {
      problems.add({{name, Style::kWarn},
                    fmt::format("{} left out: the replica could not take what the service has, and agents cannot find "
                                "it. The latest:",
                                left_out == 1 ? "1 record is" : fmt::format("{} records are", left_out))});
    }
    for (const auto& record : items(account, "left_out_last").GetArray())
      problems.add({{text(record, "collection") + " " + text(record, "id"), Style::kWarn}, text(record, "reason")});
  }
  table.print(session.console);
  if (problems.empty()) return;
  session.console.out() << "\n";
  problems.print(session.console);
}

}  // namespace

int sync_service(const Session& session, const std::string& service, bool wait) {
  const auto target = "/v1/sync/" + url_encode(service);
  const auto started = std::chrono::steady_clock::now();
  const auto begun = about_service(session, service, [&] { return session.host.post(target); });
  if (!wait) {
    if (!session.printed(begun)) print_sync(session, part(begun.json, "sync"), session.now_ms);
    return kOk;
  }
  const auto& before = part(begun.json, "sync");
  for (;;) {
    const auto now = session.host.get(target);
    const auto& sync = part(now.json, "sync");
    if (all_passed(before, sync)) {
      session.console.progress("");
      const auto waited =
          std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - started);
      if (!session.printed(now)) print_sync(session, sync, session.now_ms + waited.count());
      return kOk;
    }
    std::string line;
    for (const auto& account : items(sync, "accounts").GetArray())
      line += (line.empty() ? "" : "; ") + printable(sync_line(account));
    if (!session.json) session.console.progress(fit(line, session.console.width() - 1));
    session.console.sleep_ms(kPollMs);
  }
}

}  // namespace krux::cli
