#include "core/policy/rules/rule_request.hpp"

#include <algorithm>

#include "core/policy/rules/recipients.hpp"

namespace krux {
namespace {

bool is_among(const std::vector<std::string>& sorted, std::string_view text) {
  return std::binary_search(sorted.begin(), sorted.end(), text, std::less<>());
}

bool of_text(const RuleCondition& condition, std::string_view text) {
  switch (condition.kind) {
    case ConditionKind::kOneOf:
      return is_among(condition.texts, text);
    case ConditionKind::kNoneOf:
      return !is_among(condition.texts, text);
    case ConditionKind::kPrefix:
      return std::any_of(condition.texts.begin(), condition.texts.end(),
                         [&](const std::string& one) { return text.starts_with(one); });
    default:
      return std::any_of(condition.texts.begin(), condition.texts.end(),
                         [&](const std::string& one) { return text.ends_with(one); });
  }
}

/// Of a list: where one of its entries fits.
bool of_texts(const RuleCondition& condition, const JsonValue& value) {
  if (value.IsString()) return of_text(condition, view(value));
  if (!value.IsArray()) return true;
  return std::any_of(value.Begin(), value.End(),
                     [&](const JsonValue& entry) { return !entry.IsString() || of_text(condition, view(entry)); });
}

bool of_number(const RuleCondition& condition, const JsonValue& value) {
  if (!value.IsNumber()) return true;
  const bool least = condition.kind == ConditionKind::kMinimum;
  if (value.IsInt64()) return least ? value.GetInt64() >= condition.number : value.GetInt64() <= condition.number;
  const auto bound = static_cast<double>(condition.number);
  return least ? value.GetDouble() >= bound : value.GetDouble() <= bound;
}

/// What holds of an input that is not given.
bool of_nothing(ConditionKind kind) {
  using enum ConditionKind;
  return kind == kAbsent || kind == kNoneOf || kind == kMaxBytes || kind == kMaxEntries || kind == kIsFalse;
}

bool of_value(const RuleCondition& condition, const JsonValue& value) {
  using enum ConditionKind;
  const auto number = static_cast<std::uint64_t>(std::max<std::int64_t>(condition.number, 0));
  switch (condition.kind) {
    case kPresent:
      return true;
    case kAbsent:
      return false;
    case kMinBytes:
      return !value.IsString() || value.GetStringLength() >= number;
    case kMaxBytes:
      return !value.IsString() || value.GetStringLength() <= number;
    case kMinEntries:
      return !value.IsArray() || value.Size() >= number;
    case kMaxEntries:
      return !value.IsArray() || value.Size() <= number;
    case kMinimum:
    case kMaximum:
      return of_number(condition, value);
    case kIsTrue:
      return !value.IsBool() || value.GetBool();
    case kIsFalse:
      return !value.IsBool() || !value.GetBool();
    default:
      return of_texts(condition, value);
  }
}

}  // namespace

RuleRequest::RuleRequest(std::string_view agent, const CapabilityDefinition& capability, const JsonValue& params,
                         std::int64_t wall_ms, const FactSource* facts, FactContext about)
    : question_{agent, capability, params, wall_ms, about}, facts_(facts) {}

const std::vector<std::string_view>& RuleRequest::domains() const {
  if (!domains_) domains_ = recipient_domains(capability(), params());
  return *domains_;
}

bool RuleRequest::has_uploads() const {
  return std::any_of(capability().inputs.begin(), capability().inputs.end(), [&](const InputDefinition& input) {
    const auto* value = input.uploads ? find_member(params(), input.name) : nullptr;
    return value && !value->IsNull() && !(value->IsArray() && value->Empty());
  });
}

const FactAnswer& RuleRequest::answer_of(const RuleCondition& condition) const {
  const auto& name = condition.input;
  const auto at = std::find_if(asked_.begin(), asked_.end(), [&](const AskedFact& one) { return one.fact == name; });
  if (at != asked_.end()) return at->answer;
  FactAnswer answer;
  if (facts_)
    answer = reads_history(condition.kind) ? facts_->has_called(condition, question_) : facts_->ask(name, question_);
  asked_.push_back({name, std::move(answer)});
  return asked_.back().answer;
}

const JsonValue* RuleRequest::value_of(const std::string& input) const {
  const auto* value = find_member(params(), input);
  return value && !value->IsNull() ? value : nullptr;
}

bool RuleRequest::holds_of(const RuleCondition& condition, const JsonValue* value) {
  return value ? of_value(condition, *value) : of_nothing(condition.kind);
}

bool RuleRequest::holds(const RuleCondition& condition) const {
  using enum ConditionKind;
  if (reads_input(condition.kind)) return holds_of(condition, value_of(condition.input));
  // An address that cannot be read is taken for either.
  const auto any = [&](bool inside) {
    return std::any_of(domains().begin(), domains().end(), [&](std::string_view domain) {
      return domain.empty() || is_inside(domain, condition.texts) == inside;
    });
  };
  switch (condition.kind) {
    case kAnyInside:
      return any(true);
    case kAnyOutside:
      return any(false);
    case kMinRecipients:
      return domains().size() >= static_cast<std::uint64_t>(std::max<std::int64_t>(condition.number, 0));
    case kUploads:
      return has_uploads();
    case kNoUploads:
      return !has_uploads();
    case kTimeWithin:
      return condition.window.holds(wall_ms());
    case kTimeOutside:
      return !condition.window.holds(wall_ms());
    default:
      break;
  }
  const auto truth = answer_of(condition).truth;
  const bool wants = condition.kind == kFactIs || condition.kind == kCalled;
  return truth == Truth::kNotKnown || (truth == Truth::kYes) == wants;
}

}  // namespace krux
