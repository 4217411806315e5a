#include "host/web/page_decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/util/durations.hpp"
#include "core/util/error.hpp"
#include "core/util/json_parts.hpp"
#include "core/util/text.hpp"
#include "core/util/time_words.hpp"
#include "host/web/page_text.hpp"

namespace krux::web {
namespace {

constexpr std::string_view kEditKept = "Your edit is kept";

/// The write's last decision, as a sentence; empty: none.
std::string last_decision(const JsonValue& write, std::int64_t now_ms) {
  const JsonValue* last = nullptr;
  for (const auto& record : items(write, "history").GetArray()) {
    if (text(record, "kind") != "decision") continue;
    if (!last || number(record, "started_at_ms") >= number(*last, "started_at_ms")) last = &record;
  }
  if (!last) return {};
  const auto at = number(*last, "started_at_ms");
  const auto utc = format_time(at);
  return fmt::format("{} by {}, {} (at {} UTC)", decision_in_words(text(*last, "outcome")), text(*last, "who"),
                     relative(at, now_ms), utc.substr(11, 8));
}

/// Why it did not go. That somebody was quicker is an answer and no error.
Notice why_not(const Error& error, const JsonValue& write, const FormValues& form, std::int64_t now_ms) {
  const auto state = text(write, "state");
  const auto code = error.type().code();
  const bool is_other = code == ErrorCode::kConflictError || code == ErrorCode::kCannotCancel;
  const std::string_view said = error.what();
  if (is_other && state == form.get("state") && text(write, "content_hash") != form.get("content_hash") &&
      !said.starts_with(kEditKept))
    return {NoticeKind::kLook,
            "This has changed meanwhile, and nothing was decided. Look again: below is what it is now."};
  const auto decided = last_decision(write, now_ms);
  if (is_other && state != form.get("state") && !decided.empty())
    return {NoticeKind::kDone, fmt::format("Already decided: {}. Now it {}.", decided, state_in_words(state))};
  return {NoticeKind::kLook, error.what()};
}

WriteState state_shown(const FormValues& form) {
  const auto state = parse_write_state(form.get("state"));
  if (!state) throw invalid_input("The form does not say which state was shown. Look at the write again.");
  return *state;
}

std::string hash_shown(const FormValues& form) {
  auto hash = form.get("content_hash");
  if (hash.empty()) throw invalid_input("The form does not say which content was shown. Look at the write again.");
  return hash;
}

std::optional<StandingTerms> like_chosen(const FormValues& form) {
  const auto seconds = form.get("like");
  if (seconds.empty()) return std::nullopt;
  StandingTerms terms;
  const auto end = seconds.data() + seconds.size();
  if (std::from_chars(seconds.data(), end, terms.for_ms).ptr != end || terms.for_ms > StandingTerms::kLongest / kSecond)
    throw invalid_input("The form does not say for how long the like is approved. Look at the write again.");
  terms.for_ms *= kSecond;
  terms.must_be_bounded();
  return terms;
}

/// An edit of what was let go meanwhile is its editor's acceptance.
bool has_accepted(const JsonValue& write, const std::string& who) {
  const auto* approvals = find_member(write, "approvals");
  const auto* given = approvals ? find_member(*approvals, "given") : nullptr;
  return given && given->IsArray() && std::any_of(given->Begin(), given->End(), [&](const JsonValue& one) {
           return find_string(one, "who").value_or("") == who;
         });
}

void edit(const Decider& d, const std::string& id, const FormValues& form) {
  const auto before = write_of(d.api, id);
  const auto& write = part(before, "write");
  auto hash = hash_shown(form);
  if (text(write, "content_hash") != hash) throw conflict("The write is not what was shown any more.");
  const auto changes = changes_of(write, form);
  if (changes != "{}") {
    const auto after = parse_json(d.api.edit_write(id, hash, changes, d.by), "The host's answer", {64 << 20, 64});
    hash = text(part(after, "write"), "content_hash");
    if (has_accepted(part(after, "write"), d.by.who)) return;
  } else if (form.get("then") != "accept") {
    throw invalid_input("The edit changes nothing.");
  }
  if (form.get("then") != "accept") return;
  try {
    d.api.accept_write(id, hash, {}, d.by);
  } catch (const Error& error) {
    if (changes == "{}") throw;
    throw Error(error.type(), fmt::format("{}, and it was not accepted: {}", kEditKept, error.what()));
  }
}

void run(const Decider& d, const std::string& id, const std::string& action, const FormValues& form) {
  if (action == "accept") {
    d.api.accept_write(id, hash_shown(form), like_chosen(form), d.by);
  } else if (action == "reject") {
    d.api.reject_write(id, form.get("reason"), d.by.who);
  } else if (action == "edit") {
    edit(d, id, form);
  } else if (action == "cancel") {
    d.api.cancel_write(id, d.by.who);
  } else if (action == "rollback") {
    d.api.rollback_write(id, form.get("force") == "1", d.by.who);
  } else if (action == "resend") {
    d.api.decide_outcome(id, WriteEvent::kOperatorResend, state_shown(form), d.by.who);
  } else if (action == "discard") {
    d.api.decide_outcome(id, WriteEvent::kOperatorDiscard, state_shown(form), d.by.who);
  } else if (action == "happened") {
    d.api.decide_outcome(id, WriteEvent::kOperatorHappened, state_shown(form), d.by.who);
  } else {
    throw not_found("There is no such decision.");
  }
}

}  // namespace

JsonDocument write_of(OperatorApi& api, const std::string& write_id) {
  return parse_json(api.write(write_id), "The host's write", {64 << 20, 64});
}

ServerResponse decide(const Decider& d, const std::string& write_id, const std::string& action,
                      const FormValues& form) {
  try {
    run(d, write_id, action, form);
    return go_to(fmt::format("{}?done={}", d.place.list(), url_encode(write_id)));
  } catch (const Error& error) {
    if (error.type().code() == ErrorCode::kNotFound) throw;
    const auto now = write_of(d.api, write_id);
    const auto& write = part(now, "write");
    return write_page(write, d.place, Extent::kShort, why_not(error, write, form, d.now_ms), d.now_ms);
  }
}

Notice done_notice(OperatorApi& api, const std::string& write_id) {
  const auto document = write_of(api, write_id);
  const auto& write = part(document, "write");
  const auto state = text(write, "state");
  const auto who = state == "pending_approval" ? acceptances(write) : std::string();
  return {NoticeKind::kDone,
          fmt::format("\"{}\" {}.{}", text(write, "summary"), state_in_words(state), who.empty() ? "" : " " + who)};
}

}  // namespace krux::web
