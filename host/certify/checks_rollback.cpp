#include <fmt/format.h>

#include "host/certify/checks.hpp"
#include "host/certify/write_trial.hpp"

namespace krux::certify {
namespace {

/// A trial whose operation can be undone. The definition and the adapter must agree about that.
WriteTrial undoable(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  const bool supports = trial.supports_rollback();
  if (supports != trial.capability().undoable)
    throw CheckFailed(supports ? "The adapter can undo it, and the definition does not say `undoable: true`."
                               : "The definition says `undoable: true`, and the adapter cannot undo it.");
  if (!supports) throw not_applicable("the operation cannot be undone, and the definition does not say so");
  return trial;
}

void executed(WriteTrial& trial) {
  const auto end = trial.execute();
  if (!end.ok()) throw CheckFailed(fmt::format("The write failed: {}", in_words(*end.answer.failure())));
}

/// Executes anew, with the state of before.
std::string prepared(WriteTrial& trial) {
  trial.prepare();
  auto before = trial.state();
  executed(trial);
  return before;
}

void expect_undone(WriteTrial& trial, const std::string& before, const std::string& when) {
  if (trial.state() != before)
    throw CheckFailed(fmt::format("{}, the service's state is not the one of before the write.", when));
}

/// The adapter's word about a disturbed rollback, and its look afterwards, against what the service has.
void judge_rollback(WriteTrial& trial, const CallAnswer<std::string>& answer, bool undone, const std::string& when) {
  if (answer.value() && !undone) throw CheckFailed(fmt::format("{}, it said that it was undone, and it is not.", when));
  if (answer.failure() && answer.failure()->effect_none && undone)
    throw CheckFailed(fmt::format("{}, it said \"{}\", and the write is undone.", when, in_words(*answer.failure())));
  trial.new_instance();
  const auto look = trial.find_rollback();
  const bool found = look.value() && look.value()->answer == EffectFound::Answer::kFound;
  if (undone && trial.can_find() && !found)
    throw CheckFailed(fmt::format("{}, the write is undone, and find_rollback does not find it so.", when));
  if (!undone && found) throw CheckFailed(fmt::format("{}, find_rollback says undone, and it is not.", when));
}

std::size_t requests_of_rollback(Lab& lab, WriteTrial& trial) {
  prepared(trial);
  const auto answer = trial.rollback();
  if (answer.failure()) throw CheckFailed(fmt::format("It failed: {}", in_words(*answer.failure())));
  const auto count = lab.faults().count();
  if (count == 0) throw not_applicable("the rollback makes no HTTP request");
  return count;
}

/// In which request the service's state goes back.
std::size_t undoing_request(Lab& lab, WriteTrial& trial) {
  const auto count = requests_of_rollback(lab, trial);
  std::size_t first = 0;
  for (std::size_t at = 1; at <= count; ++at) {
    const auto before = prepared(trial);
    const auto answer = trial.rollback({Fault::kAnswerLost, at, 1});
    const bool undone = trial.state() == before;
    judge_rollback(trial, answer, undone,
                   fmt::format("When in request {} of the rollback {}", at, in_words(Fault::kAnswerLost)));
    if (undone && first == 0) first = at;
  }
  if (first == 0) throw CheckFailed("No request of the rollback brought the service's state back.");
  return first;
}

}  // namespace

void check_rollback(Lab& lab, const std::string& subject) {
  auto trial = undoable(lab, subject);
  trial.prepare();
  const auto before = trial.state();
  lab.faults().clear();
  executed(trial);
  if (trial.state() == before)
    throw CheckFailed("The write changed nothing in `state`.", "Look at `state` in the manifest.");
  const auto answer = trial.rollback();
  if (answer.failure()) throw CheckFailed(fmt::format("It failed: {}", in_words(*answer.failure())));
  expect_undone(trial, before, "After the rollback");
  judge_rollback(trial, answer, true, "After the rollback");
  trial.rollback();
  expect_undone(trial, before, "After a second rollback");
}

void check_rollback_conflict(Lab& lab, const std::string& subject) {
  auto trial = undoable(lab, subject);
  const auto before = prepared(trial);
  trial.change();
  const auto changed = trial.state();
  // Of an operation with two states somebody else's change is what undoing it would be.
  const bool undone_by_it = changed == before;
  const auto answer = trial.rollback();
  if (answer.value() && undone_by_it && trial.state() == before) return lab.note("`change` itself undoes it.");
  if (answer.value())
    throw CheckFailed("What the write left was changed by somebody else, and the rollback undid it all the same.",
                      "Compare first; where it differs from what the write left, throw kConflict with no_effect().");
  if (answer.failure()->status != KRUX_CONFLICT || !answer.failure()->effect_none)
    throw CheckFailed(fmt::format("It failed with {}", in_words(*answer.failure())));
  if (trial.state() != changed) throw CheckFailed("It said conflict and changed the service.");
  const auto forced = trial.rollback({}, true);
  if (forced.failure()) throw CheckFailed(fmt::format("Forced, it failed: {}", in_words(*forced.failure())));
  if (trial.state() == changed && !undone_by_it) throw CheckFailed("Forced, it said undone and changed nothing.");
  if (undone_by_it) lab.note("`change` itself undoes it, so that force had nothing to do.");
}

void check_rollback_lost(Lab& lab, const std::string& subject) {
  auto trial = undoable(lab, subject);
  lab.note(fmt::format("Request {} undoes it.", undoing_request(lab, trial)));
}

void check_rollback_faults(Lab& lab, const std::string& subject) {
  auto trial = undoable(lab, subject);
  const auto at = undoing_request(lab, trial);
  for (const auto fault : {Fault::kNotSent, Fault::kCutOff, Fault::kServerError, Fault::kBadGateway,
                           Fault::kUnavailable, Fault::kRateLimited, Fault::kTokenRefused, Fault::kTruncated,
                           Fault::kNotJson, Fault::kWrongTypes, Fault::kEmpty, Fault::kHuge, Fault::kHangAfter}) {
    const auto before = prepared(trial);
    CallOptions options;
    if (fault == Fault::kHangAfter) options.deadline_ms = 300;
    const auto answer = trial.rollback({fault, at, 1}, false, options);
    const auto when = fmt::format("When in request {} of the rollback {}", at, in_words(fault));
    if (answer.failure() && is_server_error(fault) && answer.failure()->effect_none)
      throw CheckFailed(fmt::format("{}, it said \"{}\".", when, in_words(*answer.failure())),
                        "A 5xx says nothing about the effect: throw without no_effect().");
    judge_rollback(trial, answer, trial.state() == before, when);
  }
}

}  // namespace krux::certify
