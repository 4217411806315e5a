// kruxos policy: what policies and rules say, without an agent having to try.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "core/account/permission.hpp"
#include "core/definition/input_check.hpp"
#include "core/policy/analysis/rule_analysis.hpp"
#include "core/util/durations.hpp"
#include "core/util/error.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/table.hpp"

namespace krux::cli {
namespace {

std::string limit_of_rule(const Rule& rule) {
  return in_words(limit_of(rule)) + (rule.limit->escalate ? "" : ", else refused");
}

std::string demand_of(const Rule& rule) {
  std::string all = rule.tier ? to_string(*rule.tier) : "";
  const auto add = [&](const std::string& more) { all += (all.empty() ? "" : ", ") + more; };
  if (rule.approvals) add("by " + approvals_in_words(*rule.approvals));
  if (rule.delay_ms) add("delay " + span_in_words(*rule.delay_ms));
  if (rule.expires_ms) add("rejected after " + span_in_words(*rule.expires_ms) + " without a decision");
  if (rule.limit) add(limit_of_rule(rule));
  return all;
}

std::string place_of(const Rule& rule) {
  return fmt::format("{}:{}", rule.file, rule.line);
}

std::string joined_texts(const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

/// One call, and all that is decided about it.
struct Question {
  const ServiceDefinition* definition = nullptr;
  const CapabilityDefinition *capability = nullptr, *counted = nullptr;
  std::string agent;
  JsonDocument params;
  std::int64_t at_ms = 0;
};

/// As a call would be checked; what an adapter adds to whom it reaches may stand there too, as it is then resolved.
JsonDocument params_of_question(const CapabilityDefinition& capability, const std::string& arguments) {
  auto given = parse_json(arguments.empty() ? "{}" : arguments, "--arguments");
  if (!given.IsObject()) throw invalid_input("--arguments must be one JSON object.");
  JsonDocument added(rapidjson::kObjectType);
  for (const auto& name : capability.recipients) {
    const auto is_input = [&](const InputDefinition& input) { return input.name == name; };
    const auto* value = find_member(given, name);
    if (!value || std::any_of(capability.inputs.begin(), capability.inputs.end(), is_input)) continue;
    added.AddMember(JsonValue(name, added.GetAllocator()), JsonValue(*value, added.GetAllocator()),
                    added.GetAllocator());
    given.RemoveMember(name.c_str());
  }
  auto params = std::move(check_arguments(capability, to_json(given)).params);
  for (const auto& member : added.GetObject())
    params.AddMember(JsonValue(member.name, params.GetAllocator()), JsonValue(member.value, params.GetAllocator()),
                     params.GetAllocator());
  return params;
}

Question question_of(const PolicyFilesRead& files, const PolicyArguments& arguments, std::int64_t now_ms) {
  Question question;
  for (const auto& definition : files.definitions()) {
    if (const auto* found = definition->find(arguments.capability)) {
      question.definition = definition.get();
      question.capability = found;
    }
  }
  if (!question.capability)
    throw CliError(kNotFound, fmt::format("There is no capability \"{}\".", printable(arguments.capability)));
  question.agent = arguments.agent;
  question.params = params_of_question(*question.capability, arguments.arguments);
  question.counted = &counted_capability(*question.definition, *question.capability, question.params);
  question.at_ms = arguments.at.empty() ? now_ms : parse_time(arguments.at, "--at");
  return question;
}

/// A part of the decision, in words, and the rule that it is of; nullptr: definition and service's policy.
struct Part {
  std::string name, value;
  const Rule* rule = nullptr;
};

RuleDecision decided(const RuleSet& rules, const Question& q, const CapabilityDefinition& capability) {
  return rules.compiled(q.agent, capability.name).decide({q.agent, capability, q.params, q.at_ms, nullptr});
}

std::vector<Part> parts_of(const RuleSet& rules, const Question& q) {
  auto decision = decided(rules, q, *q.counted);
  decision.take_stricter(decided(rules, q, *q.capability));
  std::vector<Part> parts;
  const bool ruled = decision.tier > q.counted->tier;
  parts.push_back({"tier", to_string(ruled ? decision.tier : q.counted->tier), ruled ? decision.tier_rule : nullptr});
  if (q.capability->kind != CapabilityKind::kWrite) return parts;
  const auto base = base_delay_ms(*q.counted);
  const bool longer = decision.delay_ms > base;
  parts.push_back({"delay", span_in_words(longer ? decision.delay_ms : base), longer ? decision.delay_rule : nullptr});
  if (decision.approvals_rule && decision.tier == Tier::kApprovalRequired)
    parts.push_back({"approvals", std::to_string(decision.approvals), decision.approvals_rule});
  if (decision.expires_rule)
    parts.push_back({"expires_after", span_in_words(decision.expires_ms), decision.expires_rule});
  for (const auto& limit : q.definition->limits) {
    const auto& of = limit.operations;
    if (std::find(of.begin(), of.end(), q.counted->name) != of.end())
      parts.push_back({"limit", in_words(limit), nullptr});
  }
  for (const auto* rule : decision.limits) parts.push_back({"limit", limit_of_rule(*rule), rule});
  return parts;
}

void put_request(JsonWriter& out, const Loosened& one) {
  put(out, "capability", one.capability);
  put(out, "agent", one.agent);
  put_raw(out, "arguments", one.request.params_json);
  put(out, "at", format_time(one.request.wall_ms));
  put_objects(out, "facts", one.request.facts, [&](const auto& fact) {
    put(out, "fact", fact.first);
    put(out, "is", to_string(fact.second));
  });
}

const char* part_name(Loosened::Part part) {
  switch (part) {
    case Loosened::Part::kTier:
      return "tier";
    case Loosened::Part::kApprovals:
      return "number of approvals";
    case Loosened::Part::kDelay:
      return "delay";
    case Loosened::Part::kLimit:
      break;
  }
  return "limit";
}

int print_loosened(const Session& session, const std::vector<Loosened>& all) {
  auto& out = session.console.out();
  if (session.json) {
    out << json_object([&](JsonWriter& json) {
      put_objects(json, "loosened", all, [&](const Loosened& one) {
        put(json, "part", part_name(one.part));
        put(json, "before", one.old_demand);
        put(json, "now", one.new_demand);
        put_request(json, one);
      });
    }) << "\n";
    return all.empty() ? kOk : kFailed;
  }
  for (const auto& one : all) {
    Listing listing;
    listing.add(one.capability, {fmt::format("its {} is loosened", part_name(one.part)), Style::kWarn});
    listing.add("  before", one.old_demand);
    listing.add("  now", one.new_demand);
    listing.add("  agent", one.agent);
    listing.add("  arguments", one.request.params_json.size() > 2000
                                   ? one.request.params_json.substr(0, 300) + "... (whole with --json)"
                                   : one.request.params_json);
    listing.add("  at", format_time(one.request.wall_ms));
    for (const auto& [fact, truth] : one.request.facts) listing.add("  " + fact, to_string(truth));
    listing.print(session.console);
  }
  out << (all.empty() ? "The new directory permits nothing that the old one held.\n"
                      : fmt::format("The new directory permits more: {} requests show it.\n", all.size()));
  return all.empty() ? kOk : kFailed;
}

int compare_policies(const Session& session, const PolicyArguments& arguments) {
  const auto definitions = find_policy_places(session, arguments).definitions;
  const auto before = read_policies(arguments.before, definitions), now = read_policies(arguments.now, definitions);
  before.must_be_whole();
  now.must_be_whole();
  return print_loosened(
      session, loosened({before.rules(), before.definitions()}, {now.rules(), now.definitions()}, session.now_ms));
}

}  // namespace

int validate_policies(const Session& session, const PolicyArguments& arguments) {
  const auto places = find_policy_places(session, arguments);
  const auto files = read_policies(places.policies, places.definitions);
  const bool refuses = std::any_of(files.problems().begin(), files.problems().end(), [](auto& p) { return p.refuses; });
  auto& out = session.console.out();
  if (session.json) {
    out << json_object([&](JsonWriter& json) {
      put(json, "valid", !refuses);
      put(json, "rules", static_cast<std::int64_t>(files.rules().rules().size()));
      put_objects(json, "problems", files.problems(), [&](const auto& problem) {
        put(json, "reason", problem.reason);
        put(json, "refuses", problem.refuses);
      });
    }) << "\n";
    return refuses ? kFailed : kOk;
  }
  for (const auto& problem : files.problems())
    out << styled(session.console, printable(problem.reason), problem.refuses ? Style::kBad : Style::kWarn) << "\n";
  if (!refuses) out << fmt::format("{}: valid, {} rules.\n", places.policies.string(), files.rules().rules().size());
  return refuses ? kFailed : kOk;
}

int show_policies(const Session& session, const PolicyArguments& arguments) {
  const auto places = find_policy_places(session, arguments);
  const auto files = read_policies(places.policies, places.definitions);
  files.must_be_whole();
  std::vector<const Rule*> rules;
  for (const auto& rule : files.rules().rules()) {
    if (arguments.agent.empty() || is_for_agent(rule, small_letters(arguments.agent))) rules.push_back(&rule);
  }
  if (session.json) {
    session.console.out() << json_object([&](JsonWriter& out) {
      put_objects(out, "rules", rules, [&](const Rule* rule) {
        put_name(out, *rule, true);
        put(out, "capabilities", rule->covers);
        put(out, "agents", rule->agents);
        put(out, "when", in_words(rule->when));
        put(out, "demands", demand_of(*rule));
        put(out, "reason", rule->reason);
      });
    }) << "\n";
    return kOk;
  }
  if (rules.empty()) {
    session.console.out() << fmt::format("{} has no rules{}.\n", places.policies.string(),
                                         arguments.agent.empty() ? "" : " for " + printable(arguments.agent));
    return kOk;
  }
  Table table({{"RULE"}, {"PLACE"}, {"CAPABILITIES"}, {"AGENTS"}, {"WHEN", false, true}, {"DEMANDS"}});
  for (const auto* rule : rules)
    table.add({rule->name, place_of(*rule), joined_texts(rule->capabilities),
               rule->agents.empty() ? "all" : joined_texts(rule->agents), in_words(rule->when), demand_of(*rule)});
  table.print(session.console);
  return kOk;
}

int check_policies(const Session& session, const PolicyArguments& arguments) {
  const auto places = find_policy_places(session, arguments);
  const auto files = read_policies(places.policies, places.definitions);
  files.must_be_whole();
  const auto question = question_of(files, arguments, session.now_ms);
  const auto parts = parts_of(files.rules(), question);
  if (session.json) {
    session.console.out() << json_object([&](JsonWriter& out) {
      put(out, "capability", question.capability->name);
      put(out, "counts_as", question.counted->name);
      put(out, "agent", question.agent);
      put(out, "at", format_time(question.at_ms));
      put_objects(out, "parts", parts, [&](const Part& part) {
        put(out, "part", part.name);
        put(out, "value", part.value);
        if (!part.rule) return;
        put_name(out, *part.rule, true);
        put(out, "reason", part.rule->reason);
      });
    }) << "\n";
    return kOk;
  }
  Listing listing;
  listing.add("Call",
              fmt::format("{} by {} at {}", question.capability->name, question.agent, format_time(question.at_ms)));
  if (question.counted != question.capability) listing.add("Counts as", question.counted->name);
  for (const auto& part : parts) {
    listing.add(part.name, demanded(part.value, part.rule));
    if (part.rule) {
      listing.add("  because", in_words(part.rule->when));
      listing.add_unless_empty("  reason", part.rule->reason);
    }
  }
  listing.print(session.console);
  return kOk;
}

int analyze_policies(const Session& session, const PolicyArguments& arguments) try {
  if (!arguments.before.empty()) return compare_policies(session, arguments);
  const auto places = find_policy_places(session, arguments);
  const auto files = read_policies(places.policies, places.definitions);
  files.must_be_whole();
  const auto idle = idle_rules(files.rules(), files.definitions(), session.now_ms);
  auto& out = session.console.out();
  if (session.json) {
    out << json_object([&](JsonWriter& json) {
      put_objects(json, "idle", idle, [&](const IdleRule& one) {
        put_name(json, *one.rule, true);
        put(json, "why", one.instead ? "needless" : "never_matches");
        if (one.instead) put(json, "instead", place_of(*one.instead));
      });
    }) << "\n";
    return idle.empty() ? kOk : kFailed;
  }
  for (const auto& one : idle)
    out << fmt::format("{}: the rule \"{}\" {}.\n", place_of(*one.rule), printable(one.rule->name),
                       one.instead
                           ? fmt::format("is needless: {} (\"{}\") matches wherever it does, and demands as much",
                                         place_of(*one.instead), printable(one.instead->name))
                           : std::string("can never match"));
  if (idle.empty()) out << fmt::format("Each of the {} rules matters.\n", files.rules().rules().size());
  return idle.empty() ? kOk : kFailed;
} catch (const TooManyCases& error) {
  throw CliError(kFailed, fmt::format("This cannot be told: {}.", error.what()));
}

}  // namespace krux::cli
