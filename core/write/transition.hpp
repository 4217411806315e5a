// The one function through which every change of a write's state goes. docs/write-path.md says the same in words,
// test/model/ledger.pml searches it; the three agree.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "core/write/write.hpp"

namespace krux {

enum class WriteEvent {
  kAccept,              ///< by the operator, naming the hash that was shown
  kReject,              ///< by the operator
  kExpire,              ///< nobody has decided in time
  kEdit,                ///< new content; whoever need not be asked accepts it in the same step
  kRelease,             ///< the transaction is committed
  kDrop,                ///< the transaction is undone
  kCancel,              ///< by the agent or the operator
  kClaim,               ///< due: an attempt begins
  kAskAnew,             ///< due, and the policy of now wants a person to be asked first
  kForbid,              ///< due, and the policy of now lets it out no more
  kDone,                ///< the attempt succeeded
  kRefusedForGood,      ///< certainly nothing happened, and repeating is of no use
  kCertainlyNotDone,    ///< nothing happened; tried again on the schedule
  kScheduleUsedUp,      ///< nothing happened, and the schedule has no further try
  kMayBeDone,           ///< nobody can say
  kHostStarted,         ///< an attempt of an earlier run of the host
  kEffectFound,         ///< the effect stands at the service
  kEffectAbsentAsk,     ///< not found: a person decides
  kEffectAbsentResend,  ///< not found, or nobody can tell, and repeating is harmless
  kEffectDisproved,     ///< positive proof that nothing happened
  kEffectUnclear,       ///< or could not be made: looked for again later
  kLooksUsedUp,         ///< no look could tell: a person decides
  kOperatorResend,
  kOperatorDiscard,
  kOperatorHappened,
  kRolledBack,
  kHeldAsCopy,           ///< the data directory may be a copy of one that went on
  kOperatorRelease,      ///< held as a copy no longer; before it was looked for: as soon as a look has not found it
  kCopyReconciled,       ///< the evidence about a held write is there
  kEffectAbsentRelease,  ///< not found, and a person has released it before
  kReconcileFirst,       ///< due before this run of the host, and no attempt of it has begun
  kFirstReconcileOver,   ///< nothing was found, or no look could be made for too long: it goes out
};
inline constexpr int kWriteEvents = static_cast<int>(WriteEvent::kFirstReconcileOver) + 1;

const char* to_string(WriteEvent event);

/// What the transition function looks at and changes.
struct WritePhase {
  WriteState state = WriteState::kBuffered;
  /// An earlier attempt may have had its effect although the write is sent again: it can neither be cancelled nor
  /// edited any more, because "cancelled" promises that nothing of its effect reached the service. Never cleared.
  bool irrevocable = false;
  bool escalated = false;  ///< the operator was told and decides
  /// Held, because the data directory may be a copy: another host may have sent it, and a person decides.
  bool held_as_copy = false;
  bool reconcile_first = false;  ///< looked for, by its marker and presuming nothing, before anything else is done
  /// Copied and not looked for yet: released by a person, should the look not find it.
  bool release_wanted = false;
  bool operator==(const WritePhase&) const = default;
};

/// "waits for the end of its window": what stands behind "the write" in a sentence.
std::string_view state_in_words(const WritePhase& phase);

/// Why an event does not apply: a sentence about the write, to be shown to whoever asked.
struct Refusal {
  std::string sentence;
};

std::variant<WritePhase, Refusal> transition(const WritePhase& from, WriteEvent event);

}  // namespace krux
