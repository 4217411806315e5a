#include "host/web/page_list.hpp"

#include <fmt/format.h>

#include "core/util/json_parts.hpp"
#include "core/util/time_words.hpp"
#include "core/write/acceptances.hpp"
#include "host/web/page_text.hpp"

namespace krux::web {
namespace {

constexpr std::int64_t kMostOfEach = 100, kRecent = 10;

JsonDocument writes_of(OperatorApi& api, WriteFilter filter) {
  return parse_json(api.writes(filter), "The host's list", {64 << 20, 64});
}

WriteFilter in_states(std::vector<WriteState> states, std::int64_t limit = kMostOfEach) {
  WriteFilter filter;
  filter.states = std::move(states);
  filter.limit = limit;
  return filter;
}

/// What of its time says most: until when it can be stopped, or since when it waits.
std::string when(const JsonValue& write, std::int64_t now_ms) {
  const auto ended = number(write, "ended_at_ms"), due = number(write, "due_at_ms");
  if (ended != 0) return relative(ended, now_ms);
  const auto state = text(write, "state");
  if (state == "buffered" || state == "dead_letter") return due == 0 ? "" : relative(due, now_ms);
  return "asked for " + relative(number(write, "created_at_ms"), now_ms);
}

std::string row(const JsonValue& write, const PagePlace& place, std::int64_t now_ms) {
  const auto& recipients = part(write, "recipients");
  const auto& session = part(write, "session");
  const auto& approvals = part(write, "approvals");
  const auto so_far = text(write, "state") == "pending_approval"
                          ? acceptances_in_short(number(approvals, "needed"), items(approvals, "given").Size())
                          : std::string();
  std::string out = fmt::format(
      "<li class=\"write\"><a href=\"{}\">{}</a><p class=\"facts\"><span class=\"state {}\">{}{}</span> "
      "<span>{}</span> "
      "<span>{}</span> <span>{}</span></p>",
      place.write(text(write, "write_id")), shown(text(write, "summary")), shown(text(write, "state")),
      shown(state_in_words(text(write, "state"))), so_far.empty() ? "" : " (" + so_far + ")",
      shown(text(write, "operation"), 80), shown(text(write, "agent"), 80), shown(when(write, now_ms)));
  if (!recipients.ObjectEmpty())
    out += fmt::format("<p class=\"facts\">Reaches {}</p>", shown(members_in_words(recipients)));
  if (const auto purpose = text(session, "purpose"); !purpose.empty())
    out += fmt::format("<p class=\"facts\">For, in its agent's words: {}</p>", shown(purpose, 160));
  return out + "</li>";
}

/// Rows that `fits`, of one list.
template <class Fits>
std::string section(std::string_view title, std::string_view id, const JsonValue& list, const PagePlace& place,
                    std::int64_t now_ms, Fits fits) {
  std::string rows;
  int count = 0;
  for (const auto& write : list.GetArray()) {
    if (!fits(write)) continue;
    ++count;
    rows += row(write, place, now_ms);
  }
  if (count == 0) return {};
  const auto more =
      list.Size() >= kMostOfEach
          ? fmt::format("<p class=\"facts\">The newest {}; kruxos approve list shows all.</p>", kMostOfEach)
          : std::string();
  return fmt::format(
      "<section aria-labelledby=\"{0}\"><h2 id=\"{0}\">{1} <span class=\"count\">({2})</span></h2><ul>{3}</ul>{4}"
      "</section>",
      id, title, count, rows, more);
}

/// What was approved beforehand, each with a button that ends it.
std::string standing(OperatorApi& api, const PagePlace& place, std::int64_t now_ms) {
  const auto document = parse_json(api.standing_approvals(), "The host's list", {64 << 20, 64});
  std::string rows;
  for (const auto& one : items(document, "standing_approvals").GetArray()) {
    std::string to;
    for (const auto& reached : items(one, "reaches").GetArray())
      to += (to.empty() ? "" : ", ") + std::string(view(reached));
    const auto id = std::string(text(one, "standing_id"));
    rows += fmt::format(
        "<li>{} of {} to {}: {} of {} used, ends {} {}<button type=\"submit\" class=\"bad\">End "
        "it</button></form></li>",
        shown(text(one, "operation"), 100), shown(text(one, "agent"), 80), shown(to, 400), number(one, "used"),
        number(one, "most"), relative(number(one, "until_ms"), now_ms),
        place.form(fmt::format("{}standing/{}/end", place.base, url_encode(id)), "action"));
  }
  if (rows.empty()) return {};
  return "<section aria-labelledby=\"standing\"><h2 id=\"standing\">Approved beforehand</h2><ul class=\"plain\">" +
         rows + "</ul></section>";
}

/// What shows that approvals have become a habit.
std::string figures(OperatorApi& api) {
  const auto document = parse_json(api.approval_figures(), "The host's figures");
  const auto& found = part(document, "approvals");
  const auto accepted = number(found, "accepted"), all = accepted + number(found, "rejected");
  if (all == 0) return {};
  return fmt::format(
      "<p class=\"facts\" id=\"figures\">In seven days you have decided {}, {} in the last hour: {} of 100 accepted, "
      "{} from "
      "asking to deciding (median), {} of 100 within five seconds.</p>",
      all, number(found, "last_hour"), 100 * accepted / all, duration(number(found, "median_ms")),
      100 * number(found, "at_once") / all);
}

}  // namespace

ServerResponse list_page(OperatorApi& api, const PagePlace& place, const Notice& notice, std::int64_t now_ms) {
  using State = WriteState;
  WriteFilter wait;
  wait.needs_operator = true;
  wait.limit = kMostOfEach;
  const auto waiting = writes_of(api, wait);
  const auto buffered = writes_of(api, in_states({State::kBuffered, State::kHeld, State::kExecuting}));
  const auto doubtful = writes_of(api, in_states({State::kUnknown, State::kDeadLetter}));
  const auto ended = writes_of(api, in_states({State::kCompleted, State::kFailed, State::kCancelled, State::kRejected,
                                               State::kRolledBack, State::kDiscarded},
                                              kRecent));
  const auto is_held = [](const JsonValue& write) { return flag(write, "held_as_copy"); };
  const auto is_asked = [&](const JsonValue& write) {
    return text(write, "state") == "pending_approval" && !is_held(write);
  };
  const auto is_left = [](const JsonValue& write) { return !flag(write, "needs_operator"); };
  const auto& all = items(waiting, "writes");
  auto lists = section("Waiting for your approval", "approvals", all, place, now_ms, is_asked);
  lists += section("Waiting for your word on what became of it", "decisions", all, place, now_ms,
                   [&](const JsonValue& write) { return !is_held(write) && !is_asked(write); });
  lists += section("Held, because this may be a copy", "held", all, place, now_ms, is_held);
  lists += section("Going out by themselves", "buffered", items(buffered, "writes"), place, now_ms, is_left);
  lists += section("Failed or in doubt", "doubtful", items(doubtful, "writes"), place, now_ms, is_left);
  if (lists.empty()) lists = "<p>Nothing waits.</p>";
  lists += section("Ended last", "ended", items(ended, "writes"), place, now_ms, [](const JsonValue&) { return true; });
  lists += standing(api, place, now_ms);
  lists += figures(api);
  return page(200, "What waits",
              fmt::format("<h1>What waits</h1>{}<div id=\"live\">{}</div>", notice_html(notice), lists), place);
}

}  // namespace krux::web
