#include <fmt/format.h>

#include <algorithm>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "host/certify/checks.hpp"
#include "host/certify/outputs.hpp"
#include "host/certify/write_trial.hpp"

namespace krux::certify {
namespace {

constexpr std::int64_t kShortDeadlineMs = 300;

bool same_json(const std::string& a, const std::string& b) {
  return canonical_json(parse_json(a, "a result", {8 << 20, 64})) ==
         canonical_json(parse_json(b, "a result", {8 << 20, 64}));
}

std::string when(std::size_t at, Fault fault) {
  return fmt::format("When in request {} {}", at, in_words(fault));
}

/// The request that has the effect, disturbed; and what must be said of it.
void disturb(WriteTrial& trial, std::size_t at, Fault fault) {
  trial.prepare();
  const auto end = trial.execute({fault, at, 1});
  const auto* failure = end.answer.failure();
  if (failure && is_server_error(fault) && failure->effect_none)
    throw CheckFailed(fmt::format("{}, it said \"{}\".", when(at, fault), in_words(*failure)),
                      "A 5xx says nothing about the effect: throw without no_effect().");
  trial.judge(end, when(at, fault));
}

void expect_refusal(WriteTrial& trial, std::size_t at, Fault fault, krux_status status) {
  trial.prepare();
  const auto end = trial.execute({fault, at, 1});
  const auto* failure = end.answer.failure();
  if (!failure) throw CheckFailed(fmt::format("{}, it said that it was done.", when(at, fault)));
  if (failure->status != status)
    throw CheckFailed(fmt::format("{}, it failed with {}", when(at, fault), in_words(*failure)));
  if (!failure->effect_none)
    throw CheckFailed(
        fmt::format("{}, it left open whether there is an effect: {}", when(at, fault), in_words(*failure)),
        "This refusal is the service's own word that nothing happened: say no_effect().");
  if (end.effects != 0) throw CheckFailed(fmt::format("{}, it sent the request again.", when(at, fault)));
  const auto wait = failure->retry_after_ms.value_or(-1);
  if (fault == Fault::kRateLimited && (wait < kRetryAfterSeconds * 1000 || wait > 60'000))
    throw CheckFailed(
        fmt::format("Retry-After said {} s, and the failure's retry_after_ms is {}.", kRetryAfterSeconds, wait));
}

}  // namespace

void check_write_once(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  trial.prepare();
  const auto end = trial.execute();
  if (!end.ok()) throw CheckFailed(fmt::format("It failed: {}", in_words(*end.answer.failure())));
  check_outputs(trial.capability(), trial.result(), false);
  trial.need_counts();
  if (end.effects != 1) throw CheckFailed(fmt::format("The service has {} effects of it.", end.effects));
  trial.judge(end, "When nothing was disturbed");
  const auto look = trial.find();
  if (look.value() && look.value()->answer == EffectFound::Answer::kFound &&
      !same_json(look.value()->result_json, trial.result()))
    throw CheckFailed(fmt::format("execute_write gave {}, and find_effect found {}.", printable(trial.result()),
                                  printable(look.value()->result_json)),
                      "find_effect gives the result that execute_write would have given.");
}

void check_write_answer_lost(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  lab.note(fmt::format("Request {} has the effect.", trial.effect_request()));
}

void check_write_not_sent(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  trial.need_counts();
  const auto count = trial.requests();
  for (std::size_t at = 1; at <= count; ++at) disturb(trial, at, Fault::kNotSent);
}

void check_write_twins(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  if (trial.capability().harmless_to_repeat)
    throw not_applicable("the operation sets a state: two equal writes have one effect");
  trial.need_counts();
  trial.prepare();
  const auto first = trial.execute();
  if (!first.ok()) throw CheckFailed(fmt::format("The first write failed: {}", in_words(*first.answer.failure())));
  const auto first_write = trial.write();
  const auto first_result = trial.result();
  trial.prepare_twin();
  trial.execute({Fault::kNotSent, 1, 0});
  const auto early = trial.find();
  if (early.value() && early.value()->answer == EffectFound::Answer::kFound)
    throw CheckFailed(
        "Of two equal writes the first was executed and the second never sent; find_effect of the second "
        "said \"found\".",
        "Compare the write_id that the effect carries, not its content.");
  const auto second = trial.execute();
  if (!second.ok()) throw CheckFailed(fmt::format("The second write failed: {}", in_words(*second.answer.failure())));
  if (second.effects != 2) throw CheckFailed(fmt::format("Two equal writes had {} effects.", second.effects));
  const auto second_result = trial.result();
  const auto late = trial.find();
  if (!trial.can_find()) return;
  if (!late.value() || late.value()->answer != EffectFound::Answer::kFound ||
      !same_json(late.value()->result_json, second_result))
    throw CheckFailed("Of two equal writes that were executed, find_effect did not find the second one as itself.");
  trial.set_write(first_write);
  const auto again = trial.find();
  if (!again.value() || again.value()->answer != EffectFound::Answer::kFound ||
      !same_json(again.value()->result_json, first_result))
    throw CheckFailed("Of two equal writes that were executed, find_effect did not find the first one as itself.");
}

void check_write_repeat(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  if (!trial.capability().harmless_to_repeat) throw not_applicable("the definition does not say harmless_to_repeat");
  trial.need_counts();
  trial.prepare();
  if (const auto first = trial.execute(); !first.ok())
    throw CheckFailed(fmt::format("The first attempt failed: {}", in_words(*first.answer.failure())));
  auto again = trial.write();
  again.attempt = 2;
  trial.set_write(again);
  trial.new_instance();
  const auto second = trial.execute();
  if (!second.ok()) throw CheckFailed(fmt::format("The second attempt failed: {}", in_words(*second.answer.failure())));
  if (second.effects != 1)
    throw CheckFailed(fmt::format("Two attempts of one write had {} effects.", second.effects),
                      "Say harmless_to_repeat in the definition only where a repetition changes nothing.");
}

void check_write_limited(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  expect_refusal(trial, trial.effect_request(), Fault::kRateLimited, KRUX_RATE_LIMITED);
}

void check_write_refused(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  expect_refusal(trial, trial.effect_request(), Fault::kTokenRefused, KRUX_AUTH);
}

void check_write_server(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  const auto at = trial.effect_request();
  for (const auto fault : {Fault::kServerError, Fault::kBadGateway, Fault::kUnavailable}) disturb(trial, at, fault);
}

void check_write_garbage(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  trial.need_counts();
  const auto count = trial.requests();
  for (const auto fault : {Fault::kCutOff, Fault::kTruncated, Fault::kNotJson, Fault::kWrongTypes, Fault::kWrongInside,
                           Fault::kEmpty, Fault::kHuge, Fault::kSlow}) {
    for (std::size_t at = 1; at <= count; ++at) disturb(trial, at, fault);
  }
}

void check_write_in_time(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  const auto at = trial.effect_request();
  for (const auto fault : {Fault::kHang, Fault::kHangAfter}) {
    for (const bool cancelled : {false, true}) {
      trial.prepare();
      CallOptions options;
      options.deadline_ms = cancelled ? 10'000 : kShortDeadlineMs;
      options.made = [&lab, cancelled](const CallContextPtr& call) {
        if (cancelled) lab.faults().on_hang([call] { call->cancel(); });
      };
      trial.judge(trial.execute({fault, at, 0}, options), when(at, fault));
    }
  }
  trial.prepare();
  trial.execute();
  CallOptions options;
  options.deadline_ms = kShortDeadlineMs;
  const auto look = trial.find({Fault::kHang, 1, 0}, options);
  if (look.value() && look.value()->answer == EffectFound::Answer::kAbsent)
    throw CheckFailed("find_effect said \"absent\" although the service did not answer.");
}

void check_write_bad(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  trial.prepare();
  const auto good = trial.write();
  const std::string bad[] = {"",
                             "{}",
                             "[]",
                             "null",
                             "{\"",
                             "\xff\xfe",
                             with_odd_values(trial.capability(), 0),
                             with_odd_values(trial.capability(), 1),
                             with_odd_values(trial.capability(), 2)};
  for (const auto& params : bad) {
    auto write = good;
    write.params_json = params;
    write.point_json = "{}";
    // What is sent must not reach the service: nobody asked for such an effect.
    trial.set_write(write);
    trial.execute({Fault::kNotSent, 1, 0});
    trial.find({Fault::kEmpty, 1, 0});
  }
  auto unknown = good;
  unknown.operation += "_and_no_such_thing";
  unknown.point_json = "{}";
  trial.set_write(unknown);
  const auto end = trial.execute({Fault::kNotSent, 1, 0});
  if (end.ok()) throw CheckFailed("It executed an operation that it does not have.");
  if (!end.answer.failure()->effect_none)
    throw CheckFailed(fmt::format("Of an operation that it does not have it said {}", in_words(*end.answer.failure())),
                      "Nothing was sent: say no_effect().");
}

void check_find_unattempted(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  trial.need_counts();
  trial.prepare();
  const auto unattempted = [](AdapterWrite write) {
    write.attempt = 0;
    write.note_json.clear();
    write.first_attempt_at_ms = write.created_at_ms;
    return write;
  };
  const auto accepted = trial.write();
  trial.set_write(unattempted(accepted));
  const auto before = trial.find();
  // What sets a state may be found set by somebody else.
  if (!trial.capability().harmless_to_repeat && before.value() && before.value()->answer == EffectFound::Answer::kFound)
    throw CheckFailed("Of a write that was never executed find_effect said \"found\".",
                      "Take nothing for the write's effect that does not carry its write_id.");
  if (trial.effects() != 0) throw CheckFailed("find_effect changed the service.");
  trial.set_write(accepted);
  if (const auto end = trial.execute(); !end.ok())
    throw CheckFailed(fmt::format("An undisturbed execution failed: {}", in_words(*end.answer.failure())));
  trial.set_write(unattempted(trial.write()));
  trial.new_instance();
  const auto after = trial.find();
  if (!trial.can_find()) return;
  if (!after.value())
    throw CheckFailed(fmt::format("The service has the effect, and find_effect with attempt 0 and no note failed: {}",
                                  in_words(*after.failure())));
  if (after.value()->answer != EffectFound::Answer::kFound)
    throw CheckFailed("The service has the effect, and find_effect with attempt 0 and no note did not find it.");
  if (!same_json(after.value()->result_json, trial.result()))
    throw CheckFailed(fmt::format("execute_write gave {}, and find_effect with attempt 0 and no note found {}.",
                                  printable(trial.result()), printable(after.value()->result_json)));
}

void check_find_faults(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  trial.need_counts();
  trial.prepare();
  if (!trial.execute().ok()) throw CheckFailed("An undisturbed execution failed.");
  trial.find();
  const auto count = std::min<std::size_t>(lab.faults().count(), 3);
  if (count == 0) throw not_applicable("find_effect makes no HTTP request");
  for (const auto fault : {Fault::kAnswerLost, Fault::kNotSent, Fault::kCutOff, Fault::kRateLimited,
                           Fault::kTokenRefused, Fault::kServerError, Fault::kUnavailable, Fault::kTruncated,
                           Fault::kNotJson, Fault::kWrongTypes, Fault::kWrongInside, Fault::kEmpty, Fault::kHuge}) {
    for (std::size_t at = 1; at <= count; ++at) {
      trial.new_instance();
      const auto look = trial.find({fault, at, 1});
      if (!look.value()) continue;
      const auto said = look.value()->answer;
      if (said == EffectFound::Answer::kAbsent || said == EffectFound::Answer::kDisproved)
        throw CheckFailed(
            fmt::format("When in request {} of find_effect {}, it said \"{}\", and the service has the "
                        "effect.",
                        at, in_words(fault), said == EffectFound::Answer::kAbsent ? "absent" : "disproved"),
            "Look completely, or answer cannot_tell(): absent only after answers that were understood.");
    }
  }
}

}  // namespace krux::certify
