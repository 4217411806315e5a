// Facts of what an agent has read and called.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/definition/forms.hpp"
#include "core/facts/fact_answers.hpp"
#include "core/facts/fact_book.hpp"
#include "core/policy/rules/rule.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr const char* kNobodys = "Whose call it is is not known.";
constexpr const char* kForgotten = "The agent has read more than is kept.";
constexpr std::size_t kMostRuns = 20'000, kMostSources = 20, kMostLookUps = 200;

/// Whether it was read where the write goes: an answer says it to whom has said it.
bool is_in_place(const ReadSource& source, const FactQuestion& question) {
  return !question.capability.passes_on && !source.target.empty() &&
         source.target == target_of(question.capability, question.params) && source.service == question.about.service &&
         source.account_id == question.about.account_id;
}

/// Whether it goes to whom the adapter has found out, and to nobody whom the agent could name.
bool are_resolved(const CapabilityDefinition& capability) {
  return std::none_of(capability.inputs.begin(), capability.inputs.end(), [&](const InputDefinition& input) {
    const auto& whom = capability.recipients;
    return std::find(whom.begin(), whom.end(), input.name) != whom.end();
  });
}

}  // namespace

FactAnswer FactBook::read_recipient(const FactQuestion& question) const {
  const auto& about = question.about;
  if (about.agent_id.empty()) return not_known(kNobodys);
  const auto recipients = recipients_of(question, limits_.recipients);
  if (!recipients) return not_known(kUnreadable);
  for (const auto& address : *recipients) {
    const auto found = history_.reads.find(about.agent_id, {ValueKind::kAddress, address}, about.content_ms);
    if (found) return yes(fmt::format("{} stood in {}.", printable(address), in_words(found->source)));
  }
  const bool forgotten = !recipients->empty() && history_.reads.has_forgotten(about.agent_id, about.content_ms);
  return forgotten ? not_known(kForgotten) : no();
}

FactAnswer FactBook::read_value(const FactQuestion& question, ValueKind kind) const {
  const auto& about = question.about;
  if (about.agent_id.empty()) return not_known(kNobodys);
  auto sent = sent_by(question);
  const auto values = values_of(sent, kind);
  for (const auto& value : values) {
    const auto found = history_.reads.find(about.agent_id, value, about.content_ms);
    if (!found || (kind != ValueKind::kLink && is_in_place(found->source, question))) continue;
    // A code is not told: who looks at the queue need not know it.
    return yes(fmt::format("{} stood in {}.",
                           kind == ValueKind::kCode ? "A code or number of it" : printable(value.text),
                           in_words(found->source)));
  }
  if (!values.empty() && history_.reads.has_forgotten(about.agent_id, about.content_ms)) return not_known(kForgotten);
  return nothing_in(sent);
}

FactAnswer FactBook::has_read(const FactQuestion& question) const {
  if (question.about.agent_id.empty()) return not_known(kNobodys);
  const auto found = history_.reads.find_any(question.about.agent_id, question.about.content_ms);
  return found ? yes(fmt::format("It has read {}.", in_words(found->source))) : no();
}

FactAnswer FactBook::read_unproven(const FactQuestion& question) const {
  const auto& about = question.about;
  if (about.agent_id.empty()) return not_known(kNobodys);
  if (const auto found = history_.reads.find(about.agent_id, ReadMark::kUnprovenSender, about.content_ms))
    return yes(fmt::format("The service has not proven who has sent what it read by {}.", in_words(found->source)));
  const auto unsaid = history_.reads.find(about.agent_id, ReadMark::kUnsaidSender, about.content_ms);
  if (!unsaid) return no();
  return not_known(fmt::format("The service does not say whether it has proven who has sent what it read by {}.",
                               in_words(unsaid->source)));
}

/// Whoever has got the message that the words stand in is told nothing new; what the account had sent before the agent
/// read them is its own, such as a signature.
FactAnswer FactBook::new_to(const AgentWords::Found& found, const WordRuns& said,
                            const std::vector<std::string>& recipients, const Asked& asked,
                            std::size_t& look_ups) const {
  const auto& [source, first_ms, runs] = found;
  auto& known = asked.known;
  const auto& here = asked.account.ref;
  const bool of_message =
      !source.target.empty() && source.service == here.service && source.account_id == here.account_id;
  std::vector<std::string> lacking;
  for (const auto& address : recipients) {
    if (address == known.own_address()) continue;
    if (!of_message || known.has_got(address, source.target) != Truth::kYes) lacking.push_back(address);
  }
  for (const auto& run : lacking.empty() ? std::vector<WordRun>() : runs) {
    if (++look_ups > kMostLookUps) return not_known("More of its words were read than are looked up.");
    const std::string words(said.text_of(run));
    if (known.sent_run(words, first_ms) == Truth::kYes) continue;
    for (const auto& address : lacking) {
      const auto has = known.has_run(words, address);
      if (has == Truth::kNotKnown) return not_known("The replica cannot tell who has got its words.");
      if (has == Truth::kNo)
        return yes(fmt::format("\"{}\" stood in {}, which {} has not got.", printable(words), in_words(source),
                               printable(address)));
    }
  }
  return no();
}

FactAnswer FactBook::read_words(const FactQuestion& question, const Asked& asked) const {
  const auto& about = question.about;
  if (about.agent_id.empty()) return not_known(kNobodys);
  const auto sent = sent_by(question);
  const auto runs = runs_in(sent.text, kMostRuns);
  const auto& capability = question.capability;
  const bool by_mail = !capability.recipients.empty() && !capability.recipients_are_texts;
  const auto recipients = recipients_of(question, limits_.recipients);
  const auto sources = history_.words.find(about.agent_id, runs, about.content_ms, kMostSources);
  std::size_t look_ups = 0;
  for (const auto& found : sources) {
    // An answer to all goes to whom the message that it answers has named.
    if ((!by_mail || are_resolved(capability)) && is_in_place(found.source, question)) continue;
    if (by_mail && !recipients) return not_known(kUnreadable);
    auto answer = by_mail ? new_to(found, runs, *recipients, asked, look_ups)
                          : yes(fmt::format("\"{}\" stood in {}.", printable(runs.text_of(found.runs.front())),
                                            in_words(found.source)));
    if (answer.truth != Truth::kNo) return answer;
  }
  if (sources.size() == kMostSources) return not_known("Its words stood in more places than are looked at.");
  if (runs.cut) return not_known("Its texts are longer than what is looked at.");
  if (!runs.runs.empty() && history_.words.has_forgotten(about.agent_id, about.content_ms))
    return not_known(kForgotten);
  return nothing_in(sent);
}

FactAnswer FactBook::has_called(const RuleCondition& asked, const FactQuestion& question) const {
  if (question.about.agent_id.empty()) return not_known(kNobodys);
  // By the host's clock of now nothing is later, even where that was set back.
  const auto& about = question.about;
  const auto by = about.content_ms > 0 ? about.content_ms : std::numeric_limits<std::int64_t>::max();
  const auto found = history_.calls.find(about.agent_id, {asked.texts, question.content_ms() - asked.window_ms, by,
                                                          question.capability.name, about.accepted_ms});
  if (found.count < asked.number) return no();
  return yes(fmt::format("It had called {} within {}, last {}.", found.count == 1 ? "one" : std::to_string(found.count),
                         span_in_words(asked.window_ms), printable(found.last)));
}

}  // namespace krux
