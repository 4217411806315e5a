#include "core/write/transition.hpp"

#include <optional>
#include <string_view>

namespace krux {
namespace {

using State = WriteState;
using Event = WriteEvent;

/// Which values of a flag a row of the table is for.
enum class Only { kAny, kSet, kUnset };

enum class Escalated { kClear, kSet, kKeep };

struct Row {
  State from;
  Event event;
  Only irrevocable, escalated;
  State to;
  Escalated then_escalated = Escalated::kClear;
  bool then_irrevocable = false;  ///< what is irrevocable stays so in any case
  Only first = Only::kAny;        ///< of reconcile_first
  bool then_held = false;
};

constexpr Row kTable[] = {
    {State::kPendingApproval, Event::kAccept, Only::kAny, Only::kAny, State::kBuffered},
    {State::kPendingApproval, Event::kReject, Only::kUnset, Only::kAny, State::kRejected},
    // "Rejected" promises that it will not happen, as "cancelled" does.
    {State::kPendingApproval, Event::kReject, Only::kSet, Only::kAny, State::kDiscarded},
    {State::kPendingApproval, Event::kExpire, Only::kUnset, Only::kAny, State::kRejected},
    {State::kPendingApproval, Event::kEdit, Only::kUnset, Only::kAny, State::kPendingApproval},
    {State::kBuffered, Event::kEdit, Only::kUnset, Only::kAny, State::kPendingApproval},
    {State::kHeld, Event::kEdit, Only::kUnset, Only::kAny, State::kHeld},
    {State::kHeld, Event::kRelease, Only::kAny, Only::kAny, State::kBuffered},
    {State::kHeld, Event::kDrop, Only::kUnset, Only::kAny, State::kCancelled},

    {State::kPendingApproval, Event::kCancel, Only::kUnset, Only::kAny, State::kCancelled},
    {State::kHeld, Event::kCancel, Only::kUnset, Only::kAny, State::kCancelled},
    {State::kBuffered, Event::kCancel, Only::kUnset, Only::kAny, State::kCancelled},
    {State::kDeadLetter, Event::kCancel, Only::kUnset, Only::kAny, State::kCancelled},

    {State::kBuffered, Event::kClaim, Only::kAny, Only::kAny, State::kExecuting, Escalated::kClear, false,
     Only::kUnset},
    {State::kDeadLetter, Event::kClaim, Only::kAny, Only::kUnset, State::kExecuting, Escalated::kClear, false,
     Only::kUnset},
    {State::kBuffered, Event::kAskAnew, Only::kAny, Only::kAny, State::kPendingApproval, Escalated::kClear, false,
     Only::kUnset},
    {State::kDeadLetter, Event::kAskAnew, Only::kAny, Only::kUnset, State::kPendingApproval, Escalated::kClear, false,
     Only::kUnset},
    {State::kBuffered, Event::kForbid, Only::kUnset, Only::kAny, State::kFailed, Escalated::kClear, false,
     Only::kUnset},
    {State::kDeadLetter, Event::kForbid, Only::kUnset, Only::kUnset, State::kFailed, Escalated::kClear, false,
     Only::kUnset},
    {State::kExecuting, Event::kDone, Only::kAny, Only::kAny, State::kCompleted},
    {State::kExecuting, Event::kRefusedForGood, Only::kAny, Only::kAny, State::kFailed},
    {State::kExecuting, Event::kCertainlyNotDone, Only::kAny, Only::kAny, State::kDeadLetter},
    {State::kExecuting, Event::kScheduleUsedUp, Only::kAny, Only::kAny, State::kDeadLetter, Escalated::kSet},
    {State::kExecuting, Event::kMayBeDone, Only::kAny, Only::kAny, State::kUnknown},
    {State::kExecuting, Event::kHostStarted, Only::kAny, Only::kAny, State::kUnknown},

    {State::kUnknown, Event::kEffectFound, Only::kAny, Only::kAny, State::kCompleted},
    // A look that began before a person said "send again" and ends before the write is claimed.
    {State::kBuffered, Event::kEffectFound, Only::kSet, Only::kAny, State::kCompleted, Escalated::kClear, false,
     Only::kUnset},
    {State::kBuffered, Event::kReconcileFirst, Only::kAny, Only::kAny, State::kBuffered, Escalated::kClear, false,
     Only::kUnset},
    {State::kBuffered, Event::kEffectFound, Only::kAny, Only::kAny, State::kCompleted, Escalated::kClear, false,
     Only::kSet},
    {State::kBuffered, Event::kFirstReconcileOver, Only::kAny, Only::kAny, State::kBuffered, Escalated::kClear, false,
     Only::kSet},
    {State::kBuffered, Event::kEffectUnclear, Only::kAny, Only::kAny, State::kBuffered, Escalated::kClear, false,
     Only::kSet},
    {State::kDeadLetter, Event::kReconcileFirst, Only::kAny, Only::kUnset, State::kDeadLetter, Escalated::kClear, false,
     Only::kUnset},
    {State::kDeadLetter, Event::kEffectFound, Only::kAny, Only::kUnset, State::kCompleted, Escalated::kClear, false,
     Only::kSet},
    {State::kDeadLetter, Event::kFirstReconcileOver, Only::kAny, Only::kUnset, State::kDeadLetter, Escalated::kClear,
     false, Only::kSet},
    {State::kDeadLetter, Event::kEffectUnclear, Only::kAny, Only::kUnset, State::kDeadLetter, Escalated::kClear, false,
     Only::kSet},
    {State::kUnknown, Event::kEffectAbsentAsk, Only::kAny, Only::kAny, State::kUnknown, Escalated::kSet},
    {State::kUnknown, Event::kEffectAbsentResend, Only::kAny, Only::kAny, State::kBuffered, Escalated::kClear, true},
    {State::kUnknown, Event::kEffectDisproved, Only::kAny, Only::kAny, State::kDeadLetter},
    {State::kUnknown, Event::kScheduleUsedUp, Only::kAny, Only::kAny, State::kDeadLetter, Escalated::kSet},
    {State::kUnknown, Event::kEffectUnclear, Only::kAny, Only::kAny, State::kUnknown, Escalated::kKeep},
    {State::kUnknown, Event::kLooksUsedUp, Only::kAny, Only::kAny, State::kUnknown, Escalated::kSet},

    {State::kUnknown, Event::kOperatorResend, Only::kAny, Only::kSet, State::kBuffered, Escalated::kClear, true},
    {State::kUnknown, Event::kOperatorDiscard, Only::kAny, Only::kAny, State::kDiscarded},
    {State::kUnknown, Event::kOperatorHappened, Only::kAny, Only::kAny, State::kCompleted},
    {State::kDeadLetter, Event::kOperatorResend, Only::kAny, Only::kAny, State::kDeadLetter},
    {State::kDeadLetter, Event::kOperatorDiscard, Only::kAny, Only::kAny, State::kDiscarded},
    {State::kPendingApproval, Event::kOperatorDiscard, Only::kSet, Only::kAny, State::kDiscarded},
    {State::kHeld, Event::kOperatorDiscard, Only::kSet, Only::kAny, State::kDiscarded},
    {State::kBuffered, Event::kOperatorDiscard, Only::kSet, Only::kAny, State::kDiscarded},

    {State::kCompleted, Event::kRolledBack, Only::kAny, Only::kAny, State::kRolledBack},

    {State::kPendingApproval, Event::kHeldAsCopy, Only::kAny, Only::kAny, State::kPendingApproval, Escalated::kKeep,
     false, Only::kAny, true},
    {State::kHeld, Event::kHeldAsCopy, Only::kAny, Only::kAny, State::kHeld, Escalated::kKeep, false, Only::kAny, true},
    {State::kBuffered, Event::kHeldAsCopy, Only::kAny, Only::kAny, State::kBuffered, Escalated::kKeep, false,
     Only::kAny, true},
    {State::kExecuting, Event::kHeldAsCopy, Only::kAny, Only::kAny, State::kUnknown, Escalated::kClear, false,
     Only::kAny, true},
    {State::kUnknown, Event::kHeldAsCopy, Only::kAny, Only::kAny, State::kUnknown, Escalated::kKeep, false, Only::kAny,
     true},
    {State::kDeadLetter, Event::kHeldAsCopy, Only::kAny, Only::kAny, State::kDeadLetter, Escalated::kKeep, false,
     Only::kAny, true},
};

/// What the original did with it, nobody knows for sure: it is irrevocable.
WritePhase released(const WritePhase& from) {
  return {from.state, true, from.escalated};
}

/// What goes with a write that is held as a copy, in whatever state: nothing else does.
std::optional<WritePhase> of_held_copy(const WritePhase& from, Event event) {
  if (from.state == State::kExecuting) return std::nullopt;  // nothing of a copy is under way
  auto next = from;
  switch (event) {
    case Event::kOperatorRelease:
      if (!from.reconcile_first) return released(from);
      next.release_wanted = true;
      return next;
    case Event::kEffectAbsentRelease:
      return from.release_wanted ? std::optional(released(from)) : std::nullopt;
    case Event::kOperatorDiscard:
      return WritePhase{State::kDiscarded, from.irrevocable};
    case Event::kOperatorHappened:
      return WritePhase{State::kCompleted, from.irrevocable};
    case Event::kHeldAsCopy:  // once more: the evidence may have become another
      next.reconcile_first = true;
      next.release_wanted = false;
      return next;
    case Event::kEffectUnclear:
      return from.reconcile_first ? std::optional(next) : std::nullopt;
    case Event::kCopyReconciled:
      if (!from.reconcile_first) return std::nullopt;
      next.reconcile_first = next.release_wanted = false;
      return next;
    default:
      return std::nullopt;
  }
}

/// A first look stays wanted until it is over: editing and approving say nothing about what was sent.
bool looks_first_after(const WritePhase& from, Event event, State to) {
  if (event == Event::kReconcileFirst || event == Event::kHeldAsCopy) return true;
  return from.reconcile_first && event != Event::kFirstReconcileOver && !has_ended(to);
}

bool fits(Only wanted, bool flag) {
  return wanted == Only::kAny || (wanted == Only::kSet) == flag;
}

bool escalated_after(Escalated then, bool before) {
  return then == Escalated::kSet || (then == Escalated::kKeep && before);
}

const Row* row_for(const WritePhase& from, Event event) {
  for (const Row& row : kTable) {
    if (row.from == from.state && row.event == event && fits(row.irrevocable, from.irrevocable) &&
        fits(row.escalated, from.escalated) && fits(row.first, from.reconcile_first))
      return &row;
  }
  return nullptr;
}

std::string_view event_in_words(Event event) {
  switch (event) {
    case Event::kAccept:
      return "accepted";
    case Event::kReject:
      return "rejected";
    case Event::kExpire:
      return "rejected for want of a decision";
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
    case Event::kAskAnew:
      return "put before a person";
    case Event::kForbid:
      return "refused by the policy";
    case Event::kDone:
      return "recorded as done";
    case Event::kRefusedForGood:
      return "recorded as refused";
    case Event::kCertainlyNotDone:
      return "recorded as certainly not done";
    case Event::kScheduleUsedUp:
      return "escalated because its retries are used up";
    case Event::kMayBeDone:
      return "recorded as of unknown outcome";
    case Event::kHostStarted:
      return "taken over from an earlier run of the host";
    case Event::kEffectFound:
      return "recorded as found";
    case Event::kEffectAbsentAsk:
      return "recorded as absent";
    case Event::kEffectAbsentResend:
      return "sent again because its effect was not found";
    case Event::kEffectDisproved:
      return "recorded as proved not to have happened";
    case Event::kEffectUnclear:
      return "recorded as still unclear";
    case Event::kLooksUsedUp:
      return "escalated because no look could tell";
    case Event::kOperatorResend:
      return "sent again";
    case Event::kOperatorDiscard:
      return "discarded";
    case Event::kOperatorHappened:
      return "marked as happened";
    case Event::kRolledBack:
      return "undone";
    case Event::kHeldAsCopy:
      return "held as a copy";
    case Event::kOperatorRelease:
      return "released";
    case Event::kCopyReconciled:
      return "given evidence about what its original did";
    case Event::kEffectAbsentRelease:
      return "released because its effect was not found";
    case Event::kReconcileFirst:
      return "looked for before its first attempt";
    case Event::kFirstReconcileOver:
      return "sent after its first look";
  }
  return "changed";
}

}  // namespace

std::string_view state_in_words(const WritePhase& phase) {
  if (phase.release_wanted)
    return "is held because this data directory may be a copy, and is looked for before it goes out";
  if (phase.held_as_copy) return "is held because this data directory may be a copy, and an operator has to release it";
  switch (phase.state) {
    case State::kPendingApproval:
      return phase.irrevocable ? "waits for an operator's approval, and may have been sent already"
                               : "waits for an operator's approval";
    case State::kHeld:
      return "is held by a transaction";
    case State::kBuffered:
      if (phase.reconcile_first) return "was due before the host was started and is looked for before it is sent";
      return phase.irrevocable ? "is about to be sent again after an attempt that may have had its effect"
                               : "waits for the end of its window";
    case State::kExecuting:
      return "is being executed right now";
    case State::kUnknown:
      return phase.escalated ? "has an unknown outcome, and an operator was asked to decide"
                             : "has an unknown outcome, and the host is still looking for its effect";
    case State::kDeadLetter:
      if (phase.irrevocable) return "failed and is tried again, but an earlier attempt may have had its effect";
      return phase.escalated ? "failed, and an operator was asked to decide" : "failed and is to be tried again";
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
  constexpr const char* names[] = {"accept",
                                   "reject",
                                   "expire",
                                   "edit",
                                   "release",
                                   "drop",
                                   "cancel",
                                   "claim",
                                   "ask_anew",
                                   "forbid",
                                   "done",
                                   "refused",
                                   "not_done",
                                   "used_up",
                                   "may_be_done",
                                   "host_started",
                                   "effect_found",
                                   "effect_absent_ask",
                                   "effect_absent_resend",
                                   "effect_disproved",
                                   "effect_unclear",
                                   "looks_used_up",
                                   "operator_resend",
                                   "operator_discard",
                                   "operator_happened",
                                   "rolled_back",
                                   "held_as_copy",
                                   "operator_release",
                                   "copy_reconciled",
                                   "effect_absent_release",
                                   "reconcile_first",
                                   "first_reconcile_over"};
  static_assert(std::size(names) == kWriteEvents);
  return names[static_cast<int>(event)];
}

std::variant<WritePhase, Refusal> transition(const WritePhase& from, WriteEvent event) {
  if (from.held_as_copy && !has_ended(from.state)) {
    if (const auto next = of_held_copy(from, event)) return *next;
  } else if (const auto* row = row_for(from, event)) {
    return WritePhase{row->to, from.irrevocable || row->then_irrevocable,
                      escalated_after(row->then_escalated, from.escalated), row->then_held,
                      looks_first_after(from, event, row->to)};
  }
  std::string sentence = "The write ";
  sentence += state_in_words(from);
  sentence += ", so it cannot be ";
  sentence += event_in_words(event);
  sentence += '.';
  return Refusal{std::move(sentence)};
}

}  // namespace krux
