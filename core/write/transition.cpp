#include "core/write/transition.hpp"

#include <optional>
#include <string_view>

namespace krux {
namespace {

using State = WriteState;
using Event = WriteEvent;

/// Which values of a flag a row of the table is for.
enum class Only { kAny, kSet, kUnset };

enum class Told { kClear, kSet, kKeep };

struct Row {
  State from;
  Event event;
  Only closed, told;
  State to;
  Told then_told = Told::kClear;
  bool then_closed = false;  ///< closes; what is closed stays so in any case
};

constexpr Row kTable[] = {
    {State::kPendingApproval, Event::kAccept, Only::kAny, Only::kAny, State::kBuffered},
    {State::kPendingApproval, Event::kReject, Only::kAny, Only::kAny, State::kRejected},
    {State::kPendingApproval, Event::kEdit, Only::kUnset, Only::kAny, State::kPendingApproval},
    {State::kBuffered, Event::kEdit, Only::kUnset, Only::kAny, State::kPendingApproval},
    {State::kHeld, Event::kEdit, Only::kUnset, Only::kAny, State::kHeld},
    {State::kHeld, Event::kRelease, Only::kAny, Only::kAny, State::kBuffered},
    {State::kHeld, Event::kDrop, Only::kUnset, Only::kAny, State::kCancelled},

    {State::kPendingApproval, Event::kCancel, Only::kUnset, Only::kAny, State::kCancelled},
    {State::kHeld, Event::kCancel, Only::kUnset, Only::kAny, State::kCancelled},
    {State::kBuffered, Event::kCancel, Only::kUnset, Only::kAny, State::kCancelled},
    {State::kDeadLetter, Event::kCancel, Only::kUnset, Only::kAny, State::kCancelled},

    {State::kBuffered, Event::kClaim, Only::kAny, Only::kAny, State::kExecuting},
    {State::kDeadLetter, Event::kClaim, Only::kAny, Only::kUnset, State::kExecuting},
    {State::kExecuting, Event::kDone, Only::kAny, Only::kAny, State::kCompleted},
    {State::kExecuting, Event::kRefusedForGood, Only::kAny, Only::kAny, State::kFailed},
    {State::kExecuting, Event::kCertainlyNotDone, Only::kAny, Only::kAny, State::kDeadLetter},
    {State::kExecuting, Event::kScheduleUsedUp, Only::kAny, Only::kAny, State::kDeadLetter, Told::kSet},
    {State::kExecuting, Event::kMayBeDone, Only::kAny, Only::kAny, State::kUnknown},
    {State::kExecuting, Event::kHostStarted, Only::kAny, Only::kAny, State::kUnknown},

    {State::kUnknown, Event::kLookFound, Only::kAny, Only::kAny, State::kCompleted},
    // A look that began before a person said "send again" and ends before the write is claimed.
    {State::kBuffered, Event::kLookFound, Only::kSet, Only::kAny, State::kCompleted},
    {State::kUnknown, Event::kLookAbsentAsk, Only::kAny, Only::kAny, State::kUnknown, Told::kSet},
    {State::kUnknown, Event::kLookAbsentResend, Only::kAny, Only::kAny, State::kBuffered, Told::kClear, true},
    {State::kUnknown, Event::kLookDisproved, Only::kAny, Only::kAny, State::kDeadLetter},
    {State::kUnknown, Event::kScheduleUsedUp, Only::kAny, Only::kAny, State::kDeadLetter, Told::kSet},
    {State::kUnknown, Event::kLookCannotTell, Only::kAny, Only::kAny, State::kUnknown, Told::kKeep},
    {State::kUnknown, Event::kLooksUsedUp, Only::kAny, Only::kAny, State::kUnknown, Told::kSet},

    {State::kUnknown, Event::kPersonResend, Only::kAny, Only::kSet, State::kBuffered, Told::kClear, true},
    {State::kUnknown, Event::kPersonDiscard, Only::kAny, Only::kAny, State::kDiscarded},
    {State::kUnknown, Event::kPersonHappened, Only::kAny, Only::kAny, State::kCompleted},
    {State::kDeadLetter, Event::kPersonResend, Only::kAny, Only::kAny, State::kDeadLetter},
    {State::kDeadLetter, Event::kPersonDiscard, Only::kAny, Only::kAny, State::kDiscarded},
    {State::kBuffered, Event::kPersonDiscard, Only::kSet, Only::kAny, State::kDiscarded},

    {State::kCompleted, Event::kRolledBack, Only::kAny, Only::kAny, State::kRolledBack},
};

bool fits(Only wanted, bool flag) {
  return wanted == Only::kAny || (wanted == Only::kSet) == flag;
}

bool told_after(Told then, bool before) {
  return then == Told::kSet || (then == Told::kKeep && before);
}

std::string_view event_in_words(Event event) {
  switch (event) {
    case Event::kAccept:
      return "accepted";
    case Event::kReject:
      return "rejected";
    case Event::kEdit:
      return "edited";
    case Event::kRelease:
      return "released from its transaction";
    case Event::kDrop:
      return "dropped with its transaction";
    case Event::kCancel:
      return "cancelled";
    case Event::kClaim:
      return "claimed for execution";
    case Event::kDone:
      return "recorded as done";
    case Event::kRefusedForGood:
      return "recorded as refused";
    case Event::kCertainlyNotDone:
      return "recorded as certainly not done";
    case Event::kScheduleUsedUp:
      return "handed to a person because its retries are used up";
    case Event::kMayBeDone:
      return "recorded as of unknown outcome";
    case Event::kHostStarted:
      return "taken over from an earlier run of the host";
    case Event::kLookFound:
      return "recorded as found";
    case Event::kLookAbsentAsk:
      return "recorded as absent";
    case Event::kLookAbsentResend:
      return "sent again because its effect is absent";
    case Event::kLookDisproved:
      return "recorded as proved not to have happened";
    case Event::kLookCannotTell:
      return "recorded as still unclear";
    case Event::kLooksUsedUp:
      return "handed to a person because no look could tell";
    case Event::kPersonResend:
      return "sent again";
    case Event::kPersonDiscard:
      return "discarded";
    case Event::kPersonHappened:
      return "marked as happened";
    case Event::kRolledBack:
      return "undone";
  }
  return "changed";
}

}  // namespace

std::string_view state_in_words(const WritePhase& phase) {
  switch (phase.state) {
    case State::kPendingApproval:
      return "waits for an operator's approval";
    case State::kHeld:
      return "is held by a transaction";
    case State::kBuffered:
      return phase.closed ? "is about to be sent again after an attempt that may have had its effect"
                          : "waits for the end of its window";
    case State::kExecuting:
      return "is being executed right now";
    case State::kUnknown:
      return phase.told_person ? "has an unknown outcome, and an operator was asked to decide"
                               : "has an unknown outcome, and the host is still looking for its effect";
    case State::kDeadLetter:
      if (phase.closed) return "failed and is tried again, but an earlier attempt may have had its effect";
      return phase.told_person ? "failed, and an operator was asked to decide" : "failed and is to be tried again";
    case State::kCompleted:
      return "is already completed";
    case State::kFailed:
      return "was refused by the service";
    case State::kCancelled:
      return "is already cancelled";
    case State::kRejected:
      return "was rejected by an operator";
    case State::kRolledBack:
      return "was executed and then undone";
    case State::kDiscarded:
      return "was discarded by an operator";
  }
  return "is in a state that this program does not know";
}

const char* to_string(WriteEvent event) {
  constexpr const char* names[] = {"accept",         "reject",           "edit",          "release",
                                   "drop",           "cancel",           "claim",         "done",
                                   "refused",        "not_done",         "used_up",       "may_be_done",
                                   "host_started",   "look_found",       "look_absent",   "look_absent_resend",
                                   "look_disproved", "look_cannot_tell", "looks_used_up", "person_resend",
                                   "person_discard", "person_happened",  "rolled_back"};
  static_assert(std::size(names) == kWriteEvents);
  return names[static_cast<int>(event)];
}

std::variant<WritePhase, Refusal> transition(const WritePhase& from, WriteEvent event) {
  for (const Row& row : kTable) {
    if (row.from != from.state || row.event != event) continue;
    if (!fits(row.closed, from.closed) || !fits(row.told, from.told_person)) continue;
    return WritePhase{row.to, from.closed || row.then_closed, told_after(row.then_told, from.told_person)};
  }
  std::string sentence = "The write ";
  sentence += state_in_words(from);
  sentence += ", so it cannot be ";
  sentence += event_in_words(event);
  sentence += '.';
  return Refusal{std::move(sentence)};
}

}  // namespace krux
