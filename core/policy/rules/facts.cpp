#include "core/policy/rules/facts.hpp"

#include <algorithm>

namespace krux {
namespace {

struct Unanswered final : FactSource {
  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const auto& fact : known_facts()) all.emplace_back(fact.name);
    return all;
  }
  FactAnswer ask(std::string_view, const FactQuestion&) const override { return {}; }
};

}  // namespace

FactAnswer FactSource::has_called(const RuleCondition&, const FactQuestion&) const {
  return {};
}

const char* to_string(Truth truth) {
  return truth == Truth::kYes ? "yes" : truth == Truth::kNo ? "no" : "not known";
}

const std::vector<KnownFact>& known_facts() {
  static const std::vector<KnownFact> all{
      {"new_recipient", true, false, false, "the account has never written to a recipient"},
      {"unfamiliar_recipient", true, false, false,
       "the account has never written to a recipient, nor heard from him before yesterday"},
      {"new_domain", true, false, false, "the account has never written to anybody at a recipient's domain"},
      {"look_alike_recipient", true, false, false, "a recipient's domain looks like a familiar one, and is another"},
      {"new_link", false, false, true, "it has a link to a host that stands in no message older than a day"},
      {"new_phone", false, false, true, "it has a phone number that stands in no message older than a day"},
      {"read_recipient", true, true, false, "a recipient's address stood in what the agent has read"},
      {"read_link", false, true, true, "it has a link that stood in what the agent has read"},
      {"read_phone", false, true, true, "it has a phone number that the agent has read elsewhere"},
      {"read_code", false, true, true, "it has a code or number that the agent has read elsewhere"},
      {"read_words", false, true, true,
       "it has eight words in a row that the agent has read elsewhere and a recipient has not got"},
      {"quotes_code", true, false, true, "it has a code or number of a message that a recipient has not got"},
      {"carries_secret", false, false, true, "it has a key, a password, a one-time code or a reset link"},
      {"sent_lately", false, false, false, "it is about a message that the account has sent within the hour"},
      {"unproven_sender", false, false, false, "it is about a message whose sender the service has not proven"},
      {"read_unproven", false, true, false, "the agent has read a message whose sender the service has not proven"},
      {"has_read", false, true, false, "the agent has read what others wrote"},
  };
  return all;
}

const KnownFact* known_fact(std::string_view name) {
  const auto& all = known_facts();
  const auto at = std::find_if(all.begin(), all.end(), [&](const KnownFact& fact) { return fact.name == name; });
  return at == all.end() ? nullptr : &*at;
}

const FactSource& unanswered_facts() {
  static const Unanswered source;
  return source;
}

}  // namespace krux
