// Facts of what an agent has read and called.
#include <fmt/format.h>

#include <algorithm>

#include "core/definition/forms.hpp"
#include "core/facts/fact_answers.hpp"
#include "core/facts/fact_book.hpp"
#include "core/policy/rules/rule.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr const char* kNobodys = "Whose call it is is not known.";
constexpr const char* kForgotten = "The agent has read more than is kept.";
constexpr std::size_t kMostRuns = 20'000, kMostSources = 20;

/// Whether it was read where the write goes: an answer says it to whom has said it.
bool is_in_place(const ReadSource& source, const FactQuestion& question) {
  return !question.capability.passes_on && !source.target.empty() &&
         source.target == target_of(question.capability, question.params) && source.service == question.about.service &&
         source.account_id == question.about.account_id;
}

}  // namespace

FactAnswer FactBook::was_read(std::string_view fact, const FactQuestion& question) const {
  const auto& about = question.about;
  if (about.agent_id.empty()) return not_known(kNobodys);
  const bool of_recipients = fact == "read_recipient";
  const auto kind = fact == "read_link"    ? ValueKind::kLink
                    : fact == "read_phone" ? ValueKind::kPhone
                                           : ValueKind::kCode;
  std::vector<TextValue> values;
  auto sent = sent_by(question);
  if (of_recipients) {
    const auto recipients = recipients_of(question, limits_.recipients);
    if (!recipients) return not_known(kUnreadable);
    for (const auto& address : *recipients) values.push_back({ValueKind::kAddress, address});
  } else {
    values = values_of(sent, kind);
  }
  for (const auto& value : values) {
    const auto found = history_.reads.find(about.agent_id, value, about.content_ms);
    if (!found) continue;
    const bool of_what_is_answered = value.kind == ValueKind::kCode || value.kind == ValueKind::kPhone;
    if (of_what_is_answered && is_in_place(found->source, question)) continue;
    // A code is not told: who looks at the queue need not know it.
    return yes(value.kind == ValueKind::kCode
                   ? fmt::format("A code or number of it stood in {}.", in_words(found->source))
                   : fmt::format("{} stood in {}.", printable(value.text), in_words(found->source)));
  }
  if (!values.empty() && history_.reads.has_forgotten(about.agent_id, about.content_ms)) return not_known(kForgotten);
  return of_recipients ? no() : nothing_in(sent);
}

FactAnswer FactBook::has_read(const FactQuestion& question) const {
  if (question.about.agent_id.empty()) return not_known(kNobodys);
  const auto found = history_.reads.find_any(question.about.agent_id, question.about.content_ms);
  return found ? yes(fmt::format("It has read {}.", in_words(found->source))) : no();
}

FactAnswer FactBook::read_unproven(const FactQuestion& question) const {
  const auto& about = question.about;
  if (about.agent_id.empty()) return not_known(kNobodys);
  const auto found = history_.reads.find(about.agent_id, kUnprovenSender, about.content_ms);
  return found
             ? yes(fmt::format("The service has not proven who has sent what it read by {}.", in_words(found->source)))
             : no();
}

/// Whoever has got the message that the words stand in is told nothing new; what the account has sent before is its
/// own, such as a signature.
std::optional<std::string> FactBook::lacking_them(const ReadSource& source, const std::string& words,
                                                  const std::vector<std::string>& recipients,
                                                  Correspondents& known) const {
  if (known.sent_text(words) == Truth::kYes) return std::nullopt;
  for (const auto& address : recipients) {
    if (address == known.own_address()) continue;
    const bool has_it = !source.target.empty() && known.has_got(address, source.target) == Truth::kYes;
    if (!has_it && known.has_message({words}, address) != Truth::kYes) return address;
  }
  return std::nullopt;
}

FactAnswer FactBook::read_words(const FactQuestion& question, const Account& asked) const {
  const auto& about = question.about;
  if (about.agent_id.empty()) return not_known(kNobodys);
  const auto sent = sent_by(question);
  const auto runs = runs_in(sent.text, kMostRuns);
  const bool by_mail = !question.capability.recipients.empty();
  const auto recipients = recipients_of(question, limits_.recipients);
  const auto sources = history_.words.find(about.agent_id, runs, about.content_ms, kMostSources);
  for (const auto& [source, run] : sources) {
    if (by_mail && !recipients) return not_known(kUnreadable);
    if (!by_mail && is_in_place(source, question)) continue;
    const auto lacking =
        by_mail ? lacking_them(source, std::string(runs.text_of(run)), *recipients, asked.known) : std::nullopt;
    if (by_mail && !lacking) continue;
    return yes(fmt::format("\"{}\" stood in {}{}.", printable(runs.text_of(run)), in_words(source),
                           lacking ? ", which " + printable(*lacking) + " has not got" : ""));
  }
  if (sources.size() == kMostSources) return not_known("Its words stood in more places than are looked at.");
  if (runs.runs.size() >= kMostRuns) return not_known("Its texts are longer than what is looked at.");
  if (!runs.runs.empty() && history_.words.has_forgotten(about.agent_id, about.content_ms))
    return not_known(kForgotten);
  return nothing_in(sent);
}

FactAnswer FactBook::has_called(const RuleCondition& asked, const FactQuestion& question) const {
  if (question.about.agent_id.empty()) return not_known(kNobodys);
  // A write does not count itself, which is noted when its content is made or later.
  const auto by = question.about.content_ms > 0 ? question.about.content_ms : question.wall_ms + 1;
  const auto found = history_.calls.find(question.about.agent_id, asked.texts, by - 1 - asked.window_ms, by);
  if (found.count < asked.number) return no();
  return yes(fmt::format("It had called {} within {}, last {}.", found.count == 1 ? "one" : std::to_string(found.count),
                         span_in_words(asked.window_ms), printable(found.last)));
}

}  // namespace krux
