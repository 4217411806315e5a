#include "host/certify/write_trial.hpp"

#include <fmt/format.h>

#include <mutex>

#include "core/definition/input_check.hpp"
#include "core/util/error.hpp"
#include "core/util/ids.hpp"
#include "core/util/text.hpp"

namespace krux::certify {
namespace {

/// Of more requests than these, only the first ones are disturbed.
constexpr std::size_t kMostRequests = 8;

std::string answer_word(EffectFound::Answer answer) {
  switch (answer) {
    case EffectFound::Answer::kFound:
      return "found";
    case EffectFound::Answer::kAbsent:
      return "absent";
    case EffectFound::Answer::kDisproved:
      return "disproved";
    default:
      return "cannot tell";
  }
}

/// Where the call's notes go, as they would into the ledger.
struct Notebook {
  std::mutex mutex;
  std::string note;
};

}  // namespace

WriteTrial::WriteTrial(Lab& lab, const std::string& operation)
    : lab_(lab), capability_(*lab.definition().find(operation)), spec_(lab.bench().kit().find(operation)) {
  adapter_ = lab_.adapter();
  if (!adapter_->roles().write) throw CheckFailed("The definition has writes, and the adapter no write role.");
  if (spec_) return;
  for (const auto& input : capability_.inputs) {
    if (!input.required) continue;
    throw not_checked(fmt::format("conformance.writes has no entry for {}, which needs {}", operation, input.name));
  }
}

void WriteTrial::prepare() {
  lab_.faults().clear();
  adapter_ = lab_.adapter();
  values_ = lab_.values();
  values_["n"] = lab_.unique();
  if (spec_) {
    for (const auto& request : spec_->before) add_members(values_, "before", lab_.service().ask(request, values_));
  }
  try {
    const auto json = spec_ ? fill_json(spec_->params_json, values_) : "{}";
    given_params_ = check_arguments(capability_, json).params_json;
  } catch (const Error& error) {
    throw CheckFailed(fmt::format("The sample parameters do not fit the definition: {}", error.what()),
                      "Mend conformance.writes in the manifest.");
  }
  begin_write();
  effects_before_ = counts() ? lab_.service().count(*spec_->effects, values_) : 0;
}

void WriteTrial::prepare_twin() {
  begin_write();
}

void WriteTrial::begin_write() {
  const auto now = lab_.clock().wall_ms();
  write_ = {};
  write_.write_id = make_id("w_", now);
  write_.operation = capability_.name;
  write_.params_json = adapter_->roles().read ? resolve(given_params_) : given_params_;
  write_.attempt = 1;
  write_.created_at_ms = now;
  result_.clear();
  values_["write_id"] = write_.write_id;
  add_members(values_, "params", write_.params_json);
}

std::string WriteTrial::resolve(const std::string& params_json) {
  const auto reader = lab_.synced_replica()->reader();
  const auto answer = lab_.call<std::string>(
      "resolve", {}, [adapter = adapter_, reader, operation = capability_.name, params_json](const auto& call) {
        return adapter->ask<"resolve">(call, reader, operation, params_json);
      });
  if (answer.failure())
    throw CheckFailed(fmt::format("The sample parameters could not be resolved: {}", in_words(*answer.failure())));
  return *answer.value();
}

bool WriteTrial::supports_rollback() {
  const auto answer =
      lab_.call<bool>("supports_rollback", {}, [adapter = adapter_, operation = capability_.name](const auto& call) {
        return adapter->ask<"supports_rollback">(call, operation);
      });
  if (answer.failure()) throw CheckFailed(fmt::format("supports_rollback failed: {}", in_words(*answer.failure())));
  return *answer.value();
}

/// As the host does before the first attempt.
void WriteTrial::make_point() {
  if (!write_.point_json.empty() || !supports_rollback()) return;
  CallOptions options;
  options.write_id = write_.write_id;
  options.attempt = write_.attempt;
  const auto point =
      lab_.call<std::string>("create_rollback_point", options, [adapter = adapter_, write = write_](const auto& call) {
        return adapter->ask<"create_rollback_point">(call, write);
      });
  if (point.failure()) throw CheckFailed(fmt::format("create_rollback_point failed: {}", in_words(*point.failure())));
  write_.point_json = *point.value();
}

WriteEnd WriteTrial::execute(FaultPlan faults, CallOptions options) {
  lab_.faults().clear();
  make_point();
  if (write_.first_attempt_at_ms == 0) write_.first_attempt_at_ms = lab_.clock().wall_ms();
  const auto notes = std::make_shared<Notebook>();
  notes->note = write_.note_json;
  options.write_id = write_.write_id;
  options.attempt = write_.attempt;
  options.remember = [notes](std::string_view note) {
    const std::lock_guard lock(notes->mutex);
    notes->note = note;
    return true;
  };
  lab_.faults().arm(faults);
  WriteEnd end{lab_.call<std::string>("execute_write", options,
                                      [adapter = adapter_, write = write_](const auto& call) {
                                        return adapter->ask<"execute_write">(call, write);
                                      }),
               0, 0, std::nullopt};
  const auto requests_seen = lab_.faults().seen();
  end.requests = requests_seen.size();
  for (const auto& seen : requests_seen) {
    lab_.watch(seen.target, "the address of a request");
    if (seen.fault != Fault::kNone && !end.faulted) end.faulted = seen;
  }
  lab_.faults().arm({});
  {
    const std::lock_guard lock(notes->mutex);
    write_.note_json = notes->note;
  }
  lab_.watch(write_.note_json, "a note");
  if (end.ok()) {
    result_ = *end.answer.value();
    add_members(values_, "result", result_);
  }
  end.effects = counts() ? effects() : 0;
  return end;
}

CallAnswer<EffectFound> WriteTrial::find(FaultPlan faults, CallOptions options) {
  options.write_id = write_.write_id;
  options.attempt = write_.attempt;
  lab_.faults().arm(faults);
  auto answer = lab_.call<EffectFound>("find_effect", options, [adapter = adapter_, write = write_](const auto& call) {
    return adapter->ask<"find_effect">(call, write);
  });
  return answer;
}

RollbackRequest WriteTrial::rollback_request(bool force) const {
  return {
      make_id("rb_", lab_.clock().wall_ms()), capability_.name, write_.params_json, write_.point_json, result_, force};
}

CallAnswer<std::string> WriteTrial::rollback(FaultPlan faults, bool force, CallOptions options) {
  options.write_id = write_.write_id;
  options.attempt = 1;
  lab_.faults().arm(faults);
  return lab_.call<std::string>("rollback", options,
                                [adapter = adapter_, request = rollback_request(force)](const auto& call) {
                                  return adapter->ask<"rollback">(call, request);
                                });
}

CallAnswer<EffectFound> WriteTrial::find_rollback() {
  CallOptions options;
  options.write_id = write_.write_id;
  options.attempt = 1;
  lab_.faults().clear();
  return lab_.call<EffectFound>("find_rollback", options,
                                [adapter = adapter_, request = rollback_request(false)](const auto& call) {
                                  return adapter->ask<"find_rollback">(call, request);
                                });
}

std::int64_t WriteTrial::effects() {
  need_counts();
  return lab_.service().count(*spec_->effects, values_) - effects_before_;
}

void WriteTrial::need_counts() const {
  if (counts()) return;
  throw not_checked(
      fmt::format("conformance.writes.{}.effects is missing: nothing says how to count what the service "
                  "has",
                  capability_.name));
}

std::string WriteTrial::state() {
  if (spec_ && spec_->state) return lab_.service().look(*spec_->state, values_);
  if (counts()) {
    auto value = lab_.service().look(*spec_->effects, values_);
    if (value.front() == '[' || value.front() == '{') return value;
  }
  throw not_checked(
      fmt::format("conformance.writes.{}.state is missing: nothing shows what a rollback restores", capability_.name));
}

void WriteTrial::change() {
  if (!spec_ || spec_->change.empty())
    throw not_checked(
        fmt::format("conformance.writes.{}.change is missing: nothing changes what the write left", capability_.name));
  for (const auto& request : spec_->change) lab_.service().ask(request, values_);
}

void WriteTrial::judge(const WriteEnd& end, const std::string& when) {
  const auto* failure = end.answer.failure();
  if (end.effects > 1)
    throw CheckFailed(fmt::format("{}, the service has the effect {} times.", when, end.effects),
                      "Never repeat a request in execute_write: the host repeats, when that is safe.");
  if (!failure && end.effects == 0)
    throw CheckFailed(fmt::format("{}, it said that it was done, and the service has no effect.", when));
  if (failure && failure->effect_none && end.effects > 0)
    throw CheckFailed(fmt::format("{}, it said \"{}\", and the service has the effect.", when, in_words(*failure)),
                      "Say no_effect() only where the service said so, or where nothing was sent.");
  new_instance();
  const auto look = find();
  const auto said = look.value() ? look.value()->answer : EffectFound::Answer::kCannotTell;
  const auto word = look.failure() ? "failed with " + in_words(*look.failure()) : "said \"" + answer_word(said) + "\"";
  const bool found = said == EffectFound::Answer::kFound, unsure = said == EffectFound::Answer::kCannotTell;
  if (end.effects == 1 && !found && !(unsure && !can_find()))
    throw CheckFailed(fmt::format("{}, the service has the effect and find_effect {}.", when, word),
                      "Put the write_id into what you write and look for it. Where the service allows no such thing, "
                      "say `find: cannot_tell` in the manifest.");
  if (end.effects == 0 && found)
    throw CheckFailed(fmt::format("{}, the service has no effect and find_effect said \"found\".", when),
                      "Take nothing for the write's effect that does not carry its write_id.");
  if (effects() != end.effects) throw CheckFailed(fmt::format("{}, find_effect changed the service.", when));
}

std::size_t WriteTrial::requests() {
  prepare();
  const auto end = execute();
  if (!end.ok()) throw CheckFailed(fmt::format("An undisturbed execution failed: {}", in_words(*end.answer.failure())));
  if (end.requests == 0) throw not_applicable("the write makes no HTTP request, so that there is nothing to disturb");
  return std::min(end.requests, kMostRequests);
}

std::size_t WriteTrial::effect_request() {
  need_counts();
  const auto count = requests();
  std::size_t first = 0;
  for (std::size_t at = 1; at <= count; ++at) {
    prepare();
    const auto end = execute({Fault::kAnswerLost, at, 1});
    judge(end, fmt::format("When in request {} of {} {}", at, count, in_words(Fault::kAnswerLost)));
    if (first == 0 && end.effects > 0) first = at;
  }
  if (first == 0)
    throw CheckFailed("No request of the write had an effect that the service counts.",
                      "Look at `effects` in the manifest, and whether the write does anything.");
  return first;
}

}  // namespace krux::certify
