#include "host/web/page_write.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/json_parts.hpp"
#include "core/util/time_words.hpp"
#include "host/web/page_text.hpp"

namespace krux::web {
namespace {

constexpr std::size_t kShortBytes = 4096, kWholeBytes = 512 * 1024;
constexpr rapidjson::SizeType kMostEdits = 5, kMostHistory = 20;

/// A list of names and values.
struct Facts {
  std::string html;
  void add(std::string_view name, const std::string& value_html) {
    if (!value_html.empty()) html += fmt::format("<dt>{}</dt><dd>{}</dd>", shown(name, 100), value_html);
  }
  void add_text(std::string_view name, std::string_view value, std::size_t most = 2000) {
    add(name, shown(value, most));
  }
  std::string list() const { return html.empty() ? "" : "<dl>" + html + "</dl>"; }
};

std::string section(std::string_view id, std::string_view title, const std::string& html) {
  if (html.empty()) return {};
  return fmt::format("<section aria-labelledby=\"{0}\"><h2 id=\"{0}\">{1}</h2>{2}</section>", id, title, html);
}

/// What is sent: each parameter whole, or cut, and behind an id the name that its agent gave.
std::string content(const JsonValue& write, Extent extent, bool* cut) {
  std::size_t left = extent == Extent::kWhole ? kWholeBytes : kShortBytes * 4;
  const auto& given = part(write, "params_shown");
  Facts facts;
  facts.add_text("Operation", text(write, "operation"));
  facts.add_text("Account", text(write, "service") + " " + text(write, "account_id"));
  const auto& recipients = part(write, "recipients");
  if (!recipients.ObjectEmpty())
    facts.add("Reaches", "<strong>" + shown(members_in_words(recipients), 8000, cut) + "</strong>");
  for (const auto& parameter : part(write, "params").GetObject()) {
    const auto words = in_words(parameter.value);
    const auto most = std::min(left, extent == Extent::kWhole ? kWholeBytes : kShortBytes);
    left -= std::min(left, words.size());
    auto html = fmt::format("<pre dir=\"auto\">{}</pre>", shown_lines(words, most, cut));
    const auto* as_given = find_member(given, view(parameter.name));
    if (as_given && !(*as_given == parameter.value))
      html += fmt::format("<p class=\"facts\">{}</p>", shown(in_words(*as_given)));
    facts.add(view(parameter.name), html);
  }
  return facts.list();
}

std::string who_asked(const JsonValue& write) {
  const auto& session = part(write, "session");
  Facts facts;
  facts.add_text("Agent", text(write, "agent"));
  facts.add_text("Session", text(session, "name"));
  facts.add_text("Purpose, in its agent's words", text(session, "purpose"));
  return facts.list();
}

/// When it goes out, or has.
std::string times(const JsonValue& write, std::int64_t now_ms) {
  const auto ended = number(write, "ended_at_ms"), due = number(write, "due_at_ms"), at = number(write, "send_at_ms");
  const auto state = text(write, "state");
  Facts facts;
  facts.add("Asked for", moment(number(write, "created_at_ms"), now_ms));
  if (ended == 0 && at != 0) facts.add("Scheduled for", moment(at, now_ms));
  if (state == "pending_approval")
    facts.add_text("Goes out", at > now_ms ? "at that time, once you accept it"
                                           : duration(number(write, "delay_ms")) + " after you accept it");
  else if (ended == 0 && due != 0)
    facts.add(state == "buffered" ? "Goes out" : "Goes on", moment(due, now_ms));
  facts.add("Decide until", moment(number(write, "approval_until_ms"), now_ms));
  facts.add("Attempted", moment(number(write, "first_attempt_at_ms"), now_ms));
  facts.add("Ended", moment(ended, now_ms));
  facts.add("Can be undone until", moment(number(write, "rollback_until_ms"), now_ms));
  facts.add_text("Undo", text(write, "rollback_problem"));
  return facts.list();
}

std::string problem(const JsonValue& write) {
  Facts facts;
  facts.add_text("Asked because", text(write, "approval_reason"));
  for (const auto& sentence : items(write, "reach").GetArray()) facts.add_text("Reach", view(sentence));
  for (const auto& rule : items(write, "rules").GetArray()) {
    for (const auto& because : items(rule, "because").GetArray())
      facts.add_text("Rule " + text(rule, "rule"), view(because));
  }
  facts.add_text("Tier", text(write, "tier"));
  facts.add_text("People", acceptances(write));
  if (flag(write, "irrevocable") && number(write, "ended_at_ms") == 0)
    facts.add_text("Beware", "an earlier attempt may have had its effect");
  const auto& error = part(write, "error");
  if (!error.ObjectEmpty()) facts.add_text("Error", text(error, "type") + ": " + text(error, "message"));
  facts.add_text("Undoes", text(write, "rolls_back"));
  facts.add_text("Cleans up after", text(write, "cleans"));
  if (flag(write, "waits_in_line") && number(write, "ended_at_ms") == 0)
    facts.add_text("Order", "waits behind an earlier write of its agent to the same place");
  return facts.list();
}

void add_change(std::string& out, std::string_view name, const JsonValue* from, const JsonValue* to) {
  if (from && to && *from == *to) return;
  out += fmt::format("<dt>{}</dt><dd>", shown(name, 100));
  if (from) out += fmt::format("<del><span class=\"for-ears\">was </span>{}</del>", shown_lines(in_words(*from), 2000));
  if (to) out += fmt::format("<ins><span class=\"for-ears\">became </span>{}</ins>", shown_lines(in_words(*to), 2000));
  out += "</dd>";
}

std::string edits(const JsonValue& write, std::int64_t now_ms) {
  std::string out;
  rapidjson::SizeType count = 0;
  for (const auto& edit : items(write, "edits").GetArray()) {
    if (++count > kMostEdits) break;
    const auto &from = part(edit, "from"), &to = part(edit, "to");
    std::string changes;
    for (const auto& member : to.GetObject())
      add_change(changes, view(member.name), find_member(from, view(member.name)), &member.value);
    for (const auto& member : from.GetObject()) {
      if (!find_member(to, view(member.name))) add_change(changes, view(member.name), &member.value, nullptr);
    }
    out += fmt::format("<p class=\"facts\">By {}, {}</p><dl class=\"change\">{}</dl>", shown(text(edit, "who"), 100),
                       moment(number(edit, "edited_at_ms"), now_ms), changes);
  }
  return out;
}

std::string history(const JsonValue& write, std::int64_t now_ms) {
  std::string rows;
  rapidjson::SizeType count = 0;
  for (const auto& record : items(write, "history").GetArray()) {
    if (++count > kMostHistory) break;
    const auto outcome = text(record, "outcome"), kind = text(record, "kind");
    rows += fmt::format("<li>{} {} {} {}</li>", moment(number(record, "started_at_ms"), now_ms), shown(kind, 40),
                        shown(kind == "decision" ? decision_in_words(outcome) : outcome, 80),
                        shown(text(record, "who") + " " + text(record, "message")));
  }
  return rows.empty() ? "" : "<ul class=\"plain\">" + rows + "</ul>";
}

// --- what can be decided

std::string hidden(std::string_view name, std::string_view value) {
  return fmt::format("<input type=\"hidden\" name=\"{}\" value=\"{}\">", name, shown(value, 1000));
}

/// A form with one button; `more` stands before it.
std::string action(const PagePlace& place, const JsonValue& write, std::string_view what, std::string_view words,
                   std::string_view css_class, const std::string& more = {}) {
  return place.form(place.write(text(write, "write_id"), what), "action") +
         hidden("content_hash", text(write, "content_hash")) + hidden("state", text(write, "state")) + more +
         fmt::format("<button type=\"submit\" class=\"{}\" id=\"{}\">{}</button></form>", css_class, what, words);
}

/// For how long the like of it is approved too; nothing where there is none.
std::string like_choice(const JsonValue& write) {
  const auto& like = part(write, "like");
  const auto& reaches = items(like, "reaches");
  if (reaches.Empty()) return {};
  std::string to;
  for (const auto& one : reaches.GetArray()) to += (to.empty() ? "" : ", ") + std::string(view(one));
  return fmt::format(
      "<label for=\"like\">The like of it ({} of this agent to {}, asked about for no other reason)</label><select "
      "id=\"like\" name=\"like\"><option value=\"\">ask me each time</option><option value=\"3600\">approve up to 20 "
      "for one hour</option><option value=\"28800\">approve up to 20 for eight hours</option></select>",
      shown(text(write, "operation"), 100), shown(to, 400));
}

std::string approval_actions(const JsonValue& write, const PagePlace& place, bool cut) {
  const std::string reason =
      "<label for=\"reason\">Why not (its agent is told)</label><input id=\"reason\" name=\"reason\" maxlength=\"500\" "
      "autocomplete=\"off\">";
  const auto accept =
      cut ? fmt::format(
                "<p>Not all of it is shown, and what you accept is what you have seen. <a href=\"{}?whole=1\">Show "
                "all of it</a>, or run: kruxos approve show {}</p>",
                place.write(text(write, "write_id")), shown(text(write, "write_id"), 100))
          : action(place, write, "accept", "Accept", "good", like_choice(write));
  const auto who = acceptances(write);
  const auto of_several =
      who.empty() ? std::string() : fmt::format("<p id=\"acceptances\"><strong>{}</strong></p>", shown(who, 2000));
  return of_several + accept + action(place, write, "reject", "Reject", "bad", reason);
}

std::string outcome_actions(const JsonValue& write, const PagePlace& place) {
  const bool unknown = text(write, "state") == "unknown";
  if (unknown && !flag(write, "needs_operator"))
    return "<p>The host looks for it at the service, and asks you if that does not settle it.</p>";
  auto out = action(place, write, "resend", unknown ? "It did not happen: send it again" : "Try it again now", "good");
  if (unknown) out += action(place, write, "happened", "It happened", "quiet");
  return out + action(place, write, "discard", "Give it up", "bad");
}

std::string actions(const JsonValue& write, const PagePlace& place, bool cut, std::int64_t now_ms) {
  const auto state = text(write, "state");
  if (flag(write, "held_as_copy"))
    return "<p>It is held, because this data directory may be a copy. Decide with: kruxos held</p>";
  if (state == "pending_approval") return approval_actions(write, place, cut) + edit_form(write, place, cut);
  if (state == "buffered" || state == "held")
    return action(place, write, "cancel", "Stop it", "bad") + edit_form(write, place, cut);
  if (state == "unknown") return outcome_actions(write, place);
  if (state == "dead_letter")
    return outcome_actions(write, place) + action(place, write, "cancel", "Cancel it", "quiet");
  if (state == "completed" && number(write, "rollback_until_ms") > now_ms)
    return action(place, write, "rollback", "Undo it at the service", "bad",
                  "<label class=\"check\"><input type=\"checkbox\" name=\"force\" value=\"1\"> even if somebody has "
                  "changed it since</label>");
  return {};
}

}  // namespace

ServerResponse write_page(const JsonValue& write, const PagePlace& place, Extent extent, const Notice& notice,
                          std::int64_t now_ms) {
  bool cut = false;
  const auto summary = text(write, "summary"), id = text(write, "write_id");
  const auto what = content(write, extent, &cut);
  const auto decide = actions(write, place, cut, now_ms);
  auto body = fmt::format(
      "<p><a href=\"{}\" id=\"back\">All writes</a></p><h1>{}</h1>{}<p class=\"facts\"><span class=\"state "
      "{}\">{}</span> "
      "<code>{}</code></p>",
      place.list(), shown(summary), notice_html(notice), shown(text(write, "state"), 40),
      shown(state_in_words(text(write, "state"))), shown(id, 100));
  body += section("what", "What it does", what);
  if (cut && extent == Extent::kShort && text(write, "state") != "pending_approval")
    body += fmt::format("<p><a href=\"{}?whole=1\">Show all of it</a></p>", place.write(id));
  body += section("why", "Why it is here", problem(write));
  body += section("who", "Who asked", who_asked(write));
  body += section("when", "When", times(write, now_ms));
  body += section("decide", "Decide", decide);
  body += section("edited", "What was edited", edits(write, now_ms));
  body += section("history", "What was done", history(write, now_ms));
  body +=
      fmt::format("<p class=\"facts\" id=\"shown\" data-hash=\"{0}\" data-state=\"{1}\">Content <code>{0}</code></p>",
                  shown(text(write, "content_hash"), 100), shown(text(write, "state"), 40));
  return page(notice.kind == NoticeKind::kLook ? 409 : 200, summary, body, place);
}

}  // namespace krux::web
