#include <fmt/format.h>

#include "core/capability/questions.hpp"
#include "core/definition/input_check.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"
#include "host/certify/checks.hpp"
#include "host/certify/outputs.hpp"
#include "host/certify/write_trial.hpp"

namespace krux::certify {
namespace {

/// The sample parameters, checked and with their defaults, as the host would pass them.
std::string sample_params(Lab& lab, const CapabilityDefinition& capability) {
  const auto& reads = lab.bench().kit().reads;
  const auto given = reads.find(capability.name);
  if (given == reads.end()) {
    for (const auto& input : capability.inputs) {
      if (!input.required) continue;
      throw not_checked(fmt::format("conformance.reads has no sample parameters for {}, which needs {}",
                                    capability.name, input.name));
    }
  }
  try {
    const auto json = given == reads.end() ? "{}" : fill_json(given->second, lab.values());
    return check_arguments(capability, json).params_json;
  } catch (const Error& error) {
    throw CheckFailed(fmt::format("The sample parameters do not fit the definition: {}", error.what()),
                      "Mend conformance.reads in the manifest.");
  }
}

/// `asked`, if given: what it has ended with instead of an answer.
CallAnswer<std::string> read(Lab& lab, const std::shared_ptr<ServiceAdapter>& adapter, const std::string& capability,
                             const std::string& params,
                             const std::shared_ptr<std::optional<AskedInput>>& asked = nullptr) {
  const auto* definition = lab.definition().find(capability);
  const auto dialogue = std::make_shared<ReadDialogue>();
  dialogue->can_ask = definition ? definition->asks : 0;
  const auto replica = lab.synced_replica();
  const auto reader = definition && definition->fetches ? replica->fetching_reader() : replica->reader();
  return lab.call<std::string>("the read", {}, [=](const auto& call) {
    call->converse(dialogue);
    auto answer = adapter->ask<"read">(call, reader, capability, params);
    if (asked) *asked = call->asked();
    return answer;
  });
}

void check_questions(Lab& lab, const CapabilityDefinition& capability, const AskedInput& asked) {
  try {
    const auto why = why_not_asked(parse_questions(asked.questions_json), capability, lab.definition());
    if (!why.empty()) throw CheckFailed(fmt::format("It asks what it may not: {}.", why));
  } catch (const Error& error) {
    throw CheckFailed(fmt::format("What it asks makes no sense: {}.", error.what()));
  }
}

std::shared_ptr<ServiceAdapter> reader_of(Lab& lab) {
  auto adapter = lab.adapter();
  if (!adapter->roles().read) throw CheckFailed("The definition has reads, and the adapter no read role.");
  return adapter;
}

}  // namespace

void check_read(Lab& lab, const std::string& subject) {
  const auto& capability = *lab.definition().find(subject);
  const auto params = sample_params(lab, capability);
  const auto adapter = reader_of(lab);
  lab.synced_replica();
  lab.faults().clear();
  const auto asked = std::make_shared<std::optional<AskedInput>>();
  const auto first = read(lab, adapter, subject, params, asked);
  if (first.failure()) throw CheckFailed(fmt::format("It failed: {}", in_words(*first.failure())));
  if (!capability.fetches && lab.faults().count() > 0)
    throw CheckFailed(fmt::format("It made {} HTTP requests ({} {} was the first).", lab.faults().count(),
                                  lab.faults().seen().front().method, printable(lab.faults().seen().front().target)),
                      "Answer from the replica, or say `fetches: true` in the definition.");
  if (*asked) return check_questions(lab, capability, **asked);  // nobody is here to answer
  check_outputs(capability, *first.value(), true);
  const auto second = read(lab, adapter, subject, params);
  if (second.failure()) throw CheckFailed(fmt::format("It failed the second time: {}", in_words(*second.failure())));
  if (!capability.fetches && *second.value() != *first.value())
    throw CheckFailed("Two reads of the same replica gave two answers.");
}

void check_read_bad(Lab& lab, const std::string& subject) {
  const auto adapter = reader_of(lab);
  lab.synced_replica();
  lab.faults().clear();
  const std::string deep = "{\"a\":" + std::string(30, '[') + std::string(30, ']') + "}";
  const std::string bad[] = {"",
                             "{}",
                             "[]",
                             "null",
                             "{\"",
                             "\xff\xfe",
                             deep,
                             with_odd_values(*lab.definition().find(subject), 0),
                             with_odd_values(*lab.definition().find(subject), 1),
                             with_odd_values(*lab.definition().find(subject), 2)};
  for (const auto& params : bad) read(lab, adapter, subject, params);
  if (const auto answer = read(lab, adapter, subject + "_and_no_such_thing", "{}"); answer.value())
    throw CheckFailed("It answered a capability that it does not have.",
                      "Fail with kUnsupported where the capability's name is not one of yours.");
}

void check_resolve(Lab& lab, const std::string& subject) {
  WriteTrial trial(lab, subject);
  if (!trial.adapter()->roles().read) throw not_applicable("the adapter has no read role, which holds resolve()");
  trial.prepare();
  lab.synced_replica();
  lab.faults().clear();
  const auto once = trial.resolve(trial.given_params()), twice = trial.resolve(once);
  if (lab.faults().count() > 0) throw CheckFailed("It made HTTP requests.", "Resolve from the replica alone.");
  if (canonical_json(parse_json(once, "resolved parameters")) !=
      canonical_json(parse_json(twice, "resolved parameters")))
    throw CheckFailed(fmt::format("{} became {}, and that became {}.", printable(trial.given_params()), printable(once),
                                  printable(twice)));
}

}  // namespace krux::certify
