// kruxos policy simulate: what a directory of policies would have decided about what the audit log tells of.
#include <fmt/format.h>

#include <array>
#include <map>
#include <ostream>

#include "core/account/permission.hpp"
#include "core/policy/analysis/replay.hpp"
#include "core/util/json_out.hpp"
#include "core/util/text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/table.hpp"
#include "host/http/http_types.hpp"

namespace krux::cli {
namespace {

constexpr std::int64_t kRowsAtOnce = 1000;
constexpr std::size_t kMostShown = 50;

using Verdict = Replayed::Verdict;

const char* in_words(Verdict verdict) {
  constexpr std::array words{"same", "stricter", "looser", "not known"};
  return words[static_cast<std::size_t>(verdict)];
}

struct Different {
  PastDecision past;
  Replayed now;
};

/// With the definition's capability, and what the call counts as.
Replayed replayed_under(const PastDecision& past, const PolicyFilesRead& now) {
  for (const auto& definition : now.definitions()) {
    const auto* capability = definition->find(past.capability);
    if (capability)
      return replay(past, *capability, counted_capability(*definition, *capability, past.looked_at), now.rules());
  }
  return {Verdict::kNotKnown, {}, nullptr, fmt::format("There is no {} any more.", past.capability)};
}

struct Simulated {
  std::map<Verdict, std::int64_t> counts;
  std::map<std::string, std::int64_t> lacking;  ///< why it is not known, how often
  std::vector<Different> different;             ///< the newest; all of them where JSON is wanted
  std::int64_t decisions = 0;
};

/// Rows of one kind, newest first.
void replay_kind(const Session& session, const PolicyArguments& arguments, const char* kind, const PolicyFilesRead& now,
                 Simulated& found) {
  std::int64_t before = 0;
  for (;;) {
    auto target = fmt::format("/v1/audit?kind={}&limit={}", kind, kRowsAtOnce);
    if (before > 0) target += fmt::format("&before={}", before);
    for (const auto& [name, value] :
         {std::pair{"agent", &arguments.agent}, {"since", &arguments.since}, {"until", &arguments.until}}) {
      if (!value->empty()) target += fmt::format("&{}={}", name, url_encode(*value));
    }
    const auto answer = session.host.get(target);
    const auto& rows = items(answer.json, "rows");
    for (const auto& row : rows.GetArray()) {
      before = number(row, "seq");
      auto past = past_decision(row);
      if (!past) continue;
      auto replayed = replayed_under(*past, now);
      ++found.decisions;
      ++found.counts[replayed.verdict];
      if (replayed.verdict == Verdict::kNotKnown) ++found.lacking[replayed.why];
      const bool differs = replayed.verdict == Verdict::kStricter || replayed.verdict == Verdict::kLooser;
      if (differs && (session.json || found.different.size() < kMostShown))
        found.different.push_back({*std::move(past), std::move(replayed)});
    }
    if (rows.Size() < kRowsAtOnce) return;
  }
}

void print_json(const Session& session, const Simulated& found) {
  session.console.out() << json_object([&](JsonWriter& out) {
    put(out, "decisions", found.decisions);
    for (const auto& [verdict, name] : {std::pair{Verdict::kSame, "same"},
                                        {Verdict::kStricter, "stricter"},
                                        {Verdict::kLooser, "looser"},
                                        {Verdict::kNotKnown, "not_known"}}) {
      const auto at = found.counts.find(verdict);
      put(out, name, at == found.counts.end() ? std::int64_t{0} : at->second);
    }
    put_objects(out, "lacking", found.lacking, [&](const auto& one) {
      put(out, "why", one.first);
      put(out, "decisions", one.second);
    });
    put_objects(out, "different", found.different, [&](const Different& one) {
      put(out, "seq", one.past.seq);
      put(out, "at", format_time(one.past.at_ms));
      put(out, "agent", one.past.agent);
      put(out, "capability", one.past.capability);
      put(out, "write_id", one.past.write_id);
      put(out, "verdict", in_words(one.now.verdict));
      put(out, "was", to_string(one.past.tier));
      put(out, "was_by", one.past.decided_by);
      put(out, "now", to_string(one.now.tier));
      if (one.now.rule) put_rule_decider(out, "now_by", *one.now.rule);
    });
  }) << "\n";
}

std::string by_whom(const std::string& words) {
  return words.empty() ? "definition, policy" : words;
}

void print(const Session& session, const Simulated& found) {
  auto& out = session.console.out();
  Table table({{"ROW", true}, {"TIME"}, {"AGENT"}, {"CAPABILITY"}, {"WAS", false, true}, {"NOW", false, true}});
  for (const auto& [past, now] : found.different) {
    const auto rule =
        now.rule ? fmt::format("{}:{} ({})", now.rule->file, now.rule->line, now.rule->name) : std::string();
    std::vector<Cell> row{std::to_string(past.seq), format_time(past.at_ms), past.agent, past.capability};
    row.emplace_back(fmt::format("{} by {}", to_string(past.tier), by_whom(past.decided_by)));
    row.emplace_back(fmt::format("{} by {}", to_string(now.tier), by_whom(rule)),
                     now.verdict == Verdict::kLooser ? Style::kWarn : Style::kPlain);
    table.add(std::move(row));
  }
  if (!table.empty()) table.print(session.console);
  const auto count = [&](Verdict verdict) {
    const auto at = found.counts.find(verdict);
    return at == found.counts.end() ? std::int64_t{0} : at->second;
  };
  const auto different = count(Verdict::kStricter) + count(Verdict::kLooser);
  if (different > static_cast<std::int64_t>(found.different.size()))
    out << fmt::format("These are the newest {}; --json has all {}.\n", found.different.size(), different);
  out << fmt::format("{} decisions: {} the same, {} stricter, {} looser, {} not known.\n", found.decisions,
                     count(Verdict::kSame), count(Verdict::kStricter), count(Verdict::kLooser),
                     count(Verdict::kNotKnown));
  for (const auto& [why, times] : found.lacking) out << fmt::format("Not known, {} times: {}\n", times, printable(why));
}

}  // namespace

int simulate_policies(const Session& session, const PolicyArguments& arguments) {
  const auto places = find_policy_places(session, arguments);
  const auto files = read_policies(places.policies, places.definitions);
  files.must_be_whole();
  Simulated found;
  for (const auto* kind : {"write.submitted", "call"}) replay_kind(session, arguments, kind, files, found);
  session.json ? print_json(session, found) : print(session, found);
  return found.different.empty() ? kOk : kFailed;
}

}  // namespace krux::cli
