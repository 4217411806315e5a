// A briefing in words and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "core/capability/alert_json.hpp"
#include "core/capability/briefing.hpp"
#include "core/capability/state_json.hpp"
#include "core/util/durations.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

struct Part {
  std::int64_t count;
  const char *one, *many;  ///< "was done", "were done"
};

/// "3 writes were done, 1 failed": the parts of which there are some; empty where there are none.
std::string counted_parts(std::initializer_list<Part> parts, const char* noun, const char* nouns) {
  std::string text;
  for (const auto& part : parts) {
    if (part.count == 0) continue;
    const bool one = part.count == 1;
    text += text.empty() ? fmt::format("{} {} {}", part.count, one ? noun : nouns, one ? part.one : part.many)
                         : fmt::format(", {} {}", part.count, one ? part.one : part.many);
  }
  return text.empty() ? text : text + ".";
}

std::string since_in_words(const Briefing& b) {
  const auto time = format_time(b.since_ms).substr(0, 16);
  const auto when = fmt::format("{} {} (UTC)", time.substr(0, 10), time.substr(11));
  switch (b.from) {
    case Briefing::From::kSession:
      return fmt::format("Since your previous session, {}", when);
    case Briefing::From::kLastDay:
      return fmt::format("Since {}, a day ago (you had no session before)", when);
    case Briefing::From::kAsked:
      break;
  }
  return fmt::format("Since {}", when);
}

/// "notes team is late: last synced 3 h ago"
std::string sync_in_words(const Briefing& b) {
  std::string text;
  for (const auto& service : b.services) {
    const auto name = printable(fmt::format("{} {}", service.service, service.account));
    switch (service.state) {
      case SyncHealth::State::kCurrent:
        break;
      case SyncHealth::State::kLate:
        text += fmt::format(" The copy of {} is late: it was synced {} ago.", name,
                            span_in_words((b.now_ms - service.synced_at_ms) / 60'000 * 60'000));
        break;
      case SyncHealth::State::kNeverSynced:
        text += fmt::format(" The copy of {} is not complete yet.", name);
        break;
      case SyncHealth::State::kOutOfService:
        text += fmt::format(" {} is out of service; the operator knows.", name);
        break;
    }
  }
  if (b.services.empty()) return " No service is connected.";
  return text.empty() ? " All services are current." : text;
}

/// "There are 3 new messages in notes N1, at least 1000 in mail x."
std::string messages_in_words(const Briefing& b) {
  constexpr int most_named = 10;
  std::string text;
  int named = 0, more = 0;
  for (const auto& service : b.services) {
    const auto count = service.new_messages.value_or(0);
    if (count == 0) continue;
    if (++named > most_named) {
      ++more;
      continue;
    }
    const auto* least = service.messages_cut ? "at least " : "";
    const auto in = printable(fmt::format("{} {}", service.service, service.account));
    const auto* noun = count == 1 ? "message" : "messages";
    text += text.empty() ? fmt::format("There {} {}{} new {} in {}", count == 1 ? "is" : "are", least, count, noun, in)
                         : fmt::format(", {}{} in {}", least, count, in);
  }
  if (more > 0) text += fmt::format(", some in {} more accounts", more);
  return text.empty() ? text : text + ".";
}

void add_sentence(std::string& text, const std::string& sentence) {
  if (!sentence.empty()) text += " " + sentence;
}

void put_write_in_short(JsonWriter& out, const WriteRecord& write) {
  put(out, "write_id", write.write_id);
  put(out, "status", to_string(write.state));
  put(out, "capability", write.operation);
  put(out, "summary", write.summary);
  if (write.ended_at_ms != 0) put(out, "ended_at", format_time(write.ended_at_ms));
  if (!write.error_message.empty()) put(out, "error", printable(write.error_message));
}

}  // namespace

std::string summary_of(const Briefing& b) {
  auto ended = counted_parts({{b.completed, "was done", "were done"},
                              {b.failed, "failed", "failed"},
                              {b.rejected, "was rejected by a person", "were rejected by a person"},
                              {b.cancelled, "was cancelled", "were cancelled"},
                              {b.discarded, "was given up by a person", "were given up by a person"},
                              {b.rolled_back, "was undone", "were undone"}},
                             "write", "writes");
  std::string text = since_in_words(b) + ": " + (ended.empty() ? "none of your writes ended." : ended);
  if (b.cut) text += " There may be more.";
  if (b.approved > 0) add_sentence(text, fmt::format("A person approved {}.", b.approved));
  add_sentence(text,
               counted_parts({{b.pending_approval, "waits for a person's approval", "wait for a person's approval"},
                              {b.unknown, "is in doubt", "are in doubt"},
                              {b.dead_letter, "did not happen so far", "did not happen so far"},
                              {b.buffered + b.executing, "is on its way", "are on their way"}},
                             "write", "writes"));
  const auto count = static_cast<std::int64_t>(b.alerts.size());
  add_sentence(text, counted_parts({{count, "is open", "are open"}}, "alert", "alerts"));
  const auto changed = b.shared.count;
  if (changed > 0)
    add_sentence(text,
                 fmt::format("Other agents set {} {} of the shared state.", changed, changed == 1 ? "key" : "keys"));
  add_sentence(text, messages_in_words(b));
  return text + sync_in_words(b);
}

std::string briefing_json(const Briefing& b, const std::function<std::string(const std::string&)>& name_of) {
  return json_object([&](JsonWriter& out) {
    put(out, "summary", summary_of(b));
    put(out, "since", format_time(b.since_ms));
    put(out, "until", format_time(b.now_ms));
    if (!b.session_id.empty()) put(out, "previous_session_id", b.session_id);
    put_key(out, "writes");
    out.StartObject();
    for (const auto& [state, count] :
         std::initializer_list<std::pair<WriteState, std::int64_t>>{{WriteState::kCompleted, b.completed},
                                                                    {WriteState::kFailed, b.failed},
                                                                    {WriteState::kCancelled, b.cancelled},
                                                                    {WriteState::kRejected, b.rejected},
                                                                    {WriteState::kDiscarded, b.discarded},
                                                                    {WriteState::kRolledBack, b.rolled_back},
                                                                    {WriteState::kPendingApproval, b.pending_approval},
                                                                    {WriteState::kUnknown, b.unknown},
                                                                    {WriteState::kDeadLetter, b.dead_letter},
                                                                    {WriteState::kBuffered, b.buffered},
                                                                    {WriteState::kExecuting, b.executing}})
      put(out, to_string(state), count);
    out.EndObject();
    put(out, "counts_are_cut", b.cut);
    put_key(out, "approvals");
    out.StartObject();
    put(out, "approved", b.approved);
    put(out, "rejected", b.rejected);
    out.EndObject();
    put_objects(out, "ended", b.ended, [&](const WriteRecord& write) { put_write_in_short(out, write); });
    put_objects(out, "open", b.open, [&](const WriteRecord& write) { put_write_in_short(out, write); });
    put_objects(out, "alerts", b.alerts, [&](const Alert& alert) { put_alert(out, alert); });
    put_objects(out, "services", b.services, [&](const SyncHealth& service) {
      put(out, "service", service.service);
      put(out, "account", service.account);
      put(out, "state", to_string(service.state));
      if (service.synced_at_ms != 0) put(out, "synced_at", format_time(service.synced_at_ms));
      if (service.new_messages) put(out, "new_messages", *service.new_messages);
      if (service.messages_cut) put(out, "new_messages_are_cut", true);
    });
    put_key(out, "shared_state");
    out.StartObject();
    put(out, "changed", b.shared.count);
    put_objects(out, "newest", b.shared.newest,
                [&](const StateEntry& entry) { StateTeller{name_of}.put_meta(out, entry); });
    out.EndObject();
  });
}

const char* to_string(SyncHealth::State state) {
  switch (state) {
    case SyncHealth::State::kCurrent:
      return "current";
    case SyncHealth::State::kLate:
      return "late";
    case SyncHealth::State::kNeverSynced:
      return "not_synced_yet";
    case SyncHealth::State::kOutOfService:
      break;
  }
  return "out_of_service";
}

}  // namespace krux
