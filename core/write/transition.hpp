// The one function through which every change of a write's state goes. docs/write-path.md says the same in words,
// test/model/ledger.pml searches it; the three agree.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "core/write/write.hpp"

namespace krux {

enum class WriteEvent {
  kAccept,            ///< by the operator, naming the hash that was shown
  kReject,            ///< by the operator
  kEdit,              ///< new content; whoever need not be asked accepts it in the same step
  kRelease,           ///< the transaction is committed
  kDrop,              ///< the transaction is undone
  kCancel,            ///< by the agent or the operator
  kClaim,             ///< due: an attempt begins
  kDone,              ///< the attempt succeeded
  kRefusedForGood,    ///< certainly nothing happened, and repeating is of no use
  kCertainlyNotDone,  ///< nothing happened; tried again on the schedule
  kScheduleUsedUp,    ///< nothing happened, and the schedule has no further try
  kMayBeDone,         ///< nobody can say
  kHostStarted,       ///< an attempt of an earlier run of the host
  kLookFound,         ///< the effect stands at the service
  kLookAbsentAsk,     ///< not found: a person decides
  kLookAbsentResend,  ///< not found, and repeating is allowed
  kLookDisproved,     ///< positive proof that nothing happened
  kLookCannotTell,    ///< looked for again later
  kLooksUsedUp,       ///< no look could tell: a person decides
  kPersonResend,
  kPersonDiscard,
  kPersonHappened,
  kRolledBack,
};
inline constexpr int kWriteEvents = static_cast<int>(WriteEvent::kRolledBack) + 1;

const char* to_string(WriteEvent event);

/// What the transition function looks at and changes.
struct WritePhase {
  WriteState state = WriteState::kBuffered;
  /// An earlier attempt may have had its effect although the write is sent again: it can neither be cancelled nor
  /// edited any more, because "cancelled" promises that nothing reached the service. Never cleared.
  bool closed = false;
  bool told_person = false;  ///< the operator was told and decides
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
