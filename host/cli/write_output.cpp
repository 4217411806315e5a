#include "host/cli/write_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "core/util/text.hpp"
#include "core/write/acceptances.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

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
  if (text(write, "state") == "pending_approval") return relative(number(write, "created_at_ms"), now_ms);
  if (flag(write, "needs_operator") && number(write, "unknown_since_ms") != 0)
    return relative(number(write, "unknown_since_ms"), now_ms);
  return text(write, "state") == "executing" ? "now" : relative(number(write, "due_at_ms"), now_ms);
}

/// Of what has not ended: a person decides about its time as well.
bool is_scheduled(const JsonValue& write) {
  return number(write, "send_at_ms") != 0 && number(write, "ended_at_ms") == 0;
}

std::string value_in_words(const JsonValue& value) {
  return value.IsString() ? std::string(view(value)) : to_json(value);
}

/// What would be sent, a line for each parameter; behind an id the name that the agent gave.
void add_content(Listing& listing, const JsonValue& parameters, const JsonValue& as_given) {
  for (const auto& parameter : parameters.GetObject()) {
    auto line = value_in_words(parameter.value);
    const auto* given = find_member(as_given, view(parameter.name));
    if (given && !(*given == parameter.value)) line += fmt::format(" ({})", value_in_words(*given));
    listing.add("  " + printable(view(parameter.name)), line);
  }
}

/// In the agent's own words.
void add_session(Listing& listing, const JsonValue& session) {
  if (session.ObjectEmpty()) return;
  const auto name = text(session, "name"), id = text(session, "session_id");
  listing.add("Session", name.empty() ? id : fmt::format("{} ({})", name, id));
  listing.add_unless_empty("  purpose", text(session, "purpose"));
}

/// The write that an undo or a cleanup is about: what to look for at the service, and when it came to be there.
void add_about(Listing& listing, const JsonValue& about, std::int64_t now_ms) {
  if (about.ObjectEmpty()) return;
  listing.add("About",
              fmt::format("{} {}, {}", text(about, "write_id"), text(about, "operation"), text(about, "state")));
  listing.add_unless_empty("  summary", text(about, "summary"));
  add_content(listing, part(about, "params"), part(about, "params_shown"));
  listing.add_unless_empty("  attempted", moment(number(about, "first_attempt_at_ms"), now_ms));
  listing.add_unless_empty("  ended", moment(number(about, "ended_at_ms"), now_ms));
  const auto& result = part(about, "result");
  if (!result.ObjectEmpty()) listing.add("  result", to_json(result));
}

/// Since when, and until when, an attempt of it was under way: where to look at the service.
std::string time_window(const JsonValue& write, std::int64_t now_ms) {
  const auto first = number(write, "first_attempt_at_ms");
  std::int64_t last = 0;
  for (const auto& record : items(write, "history").GetArray()) {
    if (text(record, "kind") == "attempt") last = std::max(last, number(record, "ended_at_ms"));
  }
  if (first == 0 || last <= first) return moment(first, now_ms);
  return fmt::format("{}, until {}", moment(first, now_ms), moment(last, now_ms));
}

void tell_of_total(const Session& session, const char* what, const JsonValue& shown, std::int64_t total) {
  if (total > shown.Size())
    session.console.out() << fmt::format("{}: the newest {} of {}.\n", what, shown.Size(), total);
}

}  // namespace

std::string write_path(const std::string& id, std::string_view action) {
  return std::string("/v1/writes/").append(url_encode(id)).append(action);
}

std::string acceptances(const JsonValue& write) {
  const auto& approvals = part(write, "approvals");
  std::vector<std::string> given;
  for (const auto& one : items(approvals, "given").GetArray()) given.push_back(text(one, "who"));
  return acceptances_in_words(number(approvals, "needed"), given);
}

std::string acceptances_so_far(const JsonValue& write) {
  if (text(write, "state") != "pending_approval") return {};
  const auto& approvals = part(write, "approvals");
  return acceptances_in_short(number(approvals, "needed"), items(approvals, "given").Size());
}

void print_writes(const Session& session, const char* title, const char* time_title, const JsonValue& writes) {
  if (writes.Empty()) return;
  session.console.out() << styled(session.console, title, Style::kBold) << "\n";
  std::vector<Column> columns{id_column("ID"),          {"AGENT"}, {"OPERATION"},
                              {"CONTENT", false, true}, {"STATE"}, {time_title}};
  const auto& all = writes.GetArray();
  const bool scheduled = std::any_of(all.begin(), all.end(), is_scheduled);
  if (scheduled) columns.push_back({"SCHEDULED FOR"});
  Table table(std::move(columns));
  for (const auto& write : all) {
    const auto state = text(write, "state"), so_far = acceptances_so_far(write);
    const auto shown_state = so_far.empty() ? state : fmt::format("{} ({})", state, so_far);
    std::vector<Cell> row{text(write, "write_id"), text(write, "agent"),           text(write, "operation"),
                          text(write, "summary"),  {shown_state, style_of(state)}, time_of(write, session.now_ms)};
    if (scheduled) row.emplace_back(is_scheduled(write) ? moment(number(write, "send_at_ms"), session.now_ms) : "");
    table.add(std::move(row));
  }
  table.print(session.console);
  session.console.out() << "\n";
}

Cell finding_of(const JsonValue& write) {
  const auto finding = text(part(write, "evidence"), "finding");
  if (finding == "found") return {"found: it was sent", Style::kGood};
  if (finding == "absent") return {"not found, which is no proof", Style::kWarn};
  if (finding == "cannot_tell") return {"the service could not tell", Style::kWarn};
  if (flag(write, "release_wanted")) return {"not looked for yet; goes out if it is not found", Style::kDim};
  return {"not looked for yet", Style::kDim};
}

void print_write(const Session& session, const JsonValue& write) {
  const auto now = session.now_ms;
  const auto state = text(write, "state");
  const auto& error = part(write, "error");
  Listing listing;
  listing.add("Write", text(write, "write_id"));
  listing.add("State", {flag(write, "needs_operator") ? state + ", waits for your decision" : state, style_of(state)});
  if (flag(write, "held_as_copy")) {
    listing.add("Held", {"this data directory may be a copy: kruxos held list", Style::kWarn});
    listing.add("Effect", finding_of(write));
    const auto& found = part(part(write, "evidence"), "result");
    if (!found.ObjectEmpty()) listing.add("Found", to_json(found));
  }
  listing.add("Agent", text(write, "agent"));
  add_session(listing, part(write, "session"));
  listing.add("Account", fmt::format("{} {}", text(write, "service"), text(write, "account_id")));
  listing.add("Operation", text(write, "operation"));
  add_content(listing, part(write, "params"), part(write, "params_shown"));
  add_about(listing, part(write, "about"), now);
  listing.add("Hash", text(write, "content_hash"));
  listing.add("Created", moment(number(write, "created_at_ms"), now));
  listing.add_unless_empty("Scheduled for", moment(number(write, "send_at_ms"), now));
  if (number(write, "ended_at_ms") == 0) listing.add_unless_empty("Due", moment(number(write, "due_at_ms"), now));
  listing.add_unless_empty("Decide until", moment(number(write, "approval_until_ms"), now));
  listing.add_unless_empty("Attempted", time_window(write, now));
  listing.add_unless_empty("Ended", moment(number(write, "ended_at_ms"), now));
  listing.add_unless_empty("By", text(write, "decided_by"));
  listing.add_unless_empty("Asked because", text(write, "approval_reason"));
  listing.add_unless_empty("People", acceptances(write));
  for (const auto& rule : items(write, "rules").GetArray()) {
    listing.add("Rule", fmt::format("{} ({}:{}): {}", text(rule, "rule"), text(rule, "file"), number(rule, "line"),
                                    text(rule, "when")));
    for (const auto& because : items(rule, "because").GetArray()) listing.add("  because", printable(view(because)));
  }
  for (const auto& sentence : items(write, "reach").GetArray()) listing.add("Reach", printable(view(sentence)));
  listing.add_unless_empty("Undoes", text(write, "rolls_back"));
  listing.add_unless_empty("Cleans up", text(write, "cleans"));
  if (const auto cleanup = text(write, "cleanup"); !cleanup.empty() && cleanup != "none")
    listing.add("Cleanup", fmt::format("{}, by {}", cleanup, text(write, "cleaned_by")));
  listing.add_unless_empty("Undoable until", moment(number(write, "rollback_until_ms"), now));
  listing.add_unless_empty("Undo", text(write, "rollback_problem"));
  if (flag(write, "waits_in_line") && number(write, "ended_at_ms") == 0)
    listing.add("Order", "waits behind an earlier write of its agent to the same place");
  if (flag(write, "out_of_order")) listing.add("Order", {"went before an earlier write that held it up", Style::kWarn});
  if (flag(write, "irrevocable") && number(write, "ended_at_ms") == 0)
    listing.add("Beware", {"an earlier attempt may have had its effect", Style::kWarn});
  if (!text(error, "message").empty())
    listing.add("Error", {fmt::format("{}: {}", text(error, "type"), text(error, "message")), Style::kBad});
  const auto& result = part(write, "result");
  if (!result.ObjectEmpty()) listing.add("Result", to_json(result));
  listing.print(session.console);
}

void print_history(const Session& session, const JsonValue& history, std::int64_t total) {
  if (history.Empty()) return;
  session.console.out() << "\n";
  tell_of_total(session, "History", history, total);
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

namespace {

void print_line(const Session& session, char sign, std::string_view name, const JsonValue& value) {
  const auto shown = value.IsString() ? printable(view(value)) : printable(to_json(value));
  session.console.out() << styled(session.console, fmt::format("{} {}: {}", sign, printable(name), shown),
                                  sign == '-' ? Style::kBad : Style::kGood)
                        << "\n";
}

/// What a whole content had and the one in its place has not.
void print_removed(const Session& session, const JsonValue& before, const JsonValue& after) {
  for (const auto& member : before.GetObject()) {
    if (!find_member(after, view(member.name))) print_line(session, '-', view(member.name), member.value);
  }
}

}  // namespace

void print_edits(const Session& session, const JsonValue& edits, std::int64_t total) {
  if (!edits.Empty() && total > edits.Size()) session.console.out() << "\n";
  tell_of_total(session, "Edits", edits, total);
  for (const auto& edit : edits.GetArray()) {
    session.console.out() << fmt::format("\nEdited {} by {}:\n", relative(number(edit, "edited_at_ms"), session.now_ms),
                                         printable(text(edit, "who")));
    print_change(session, part(edit, "from"), part(edit, "to"));
    print_removed(session, part(edit, "from"), part(edit, "to"));
  }
}

void print_change(const Session& session, const JsonValue& before, const JsonValue& after) {
  for (const auto& member : after.GetObject()) {
    const auto name = view(member.name);
    const auto* old = find_member(before, name);
    if (old && *old == member.value) continue;
    if (old) print_line(session, '-', name, *old);
    if (!member.value.IsNull()) print_line(session, '+', name, member.value);
  }
}

void print_limits(const Session& session, const JsonValue& answer, const std::string& service) {
  Table table({{"AGENT"}, {"LIMIT"}, {"FOR", false, true}, {"USED", true}, {"FREE AGAIN"}});
  bool any = false;
  for (const auto& limit : items(answer, "limits").GetArray()) {
    const auto of = text(limit, "service");
    if (!service.empty() && !of.empty() && of != service) continue;
    any = true;
    const auto per = text(limit, "per"), rule = text(limit, "rule");
    const bool full = number(limit, "counted") >= number(limit, "limit");
    table.add({text(limit, "agent"),
               fmt::format("{} in {}", number(limit, "limit"), duration(number(limit, "window_ms"))),
               joined(items(limit, "operations")) +
                   (per.empty() ? "" : fmt::format(", {} {}", per, text(limit, "value"))) +
                   (rule.empty() ? "" : fmt::format(" (rule {})", rule)),
               {std::to_string(number(limit, "counted")), full ? Style::kWarn : Style::kPlain},
               full ? relative(number(limit, "free_at_ms"), session.now_ms) : ""});
  }
  if (!any) return;
  session.console.out() << styled(session.console, "Limits in use", Style::kBold) << "\n";
  table.print(session.console);
  session.console.out() << "\n";
}

int report_write(const Session& session, const HostAnswer& answer) {
  if (session.printed(answer)) return kOk;
  const auto& write = part(answer.json, "write");
  const auto people = text(write, "state") == "pending_approval" ? acceptances(write) : std::string();
  session.console.out() << fmt::format("Write {} is now {}.{}\n", printable(text(write, "write_id")),
                                       printable(text(write, "state")), people.empty() ? "" : " " + people);
  return kOk;
}

}  // namespace krux::cli
