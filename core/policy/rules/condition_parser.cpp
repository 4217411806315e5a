#include "core/policy/rules/condition_parser.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/definition/definition_loader.hpp"
#include "core/policy/rules/recipients.hpp"
#include "core/util/durations.hpp"
#include "core/util/error.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::int64_t kMostBytes = 2'000'000, kMostEntries = 1000, kMostRecipients = 100;
constexpr std::size_t kMostTexts = 1000;
constexpr std::int64_t kLargest = 9'007'199'254'740'991;  // exact in JSON

void must_be_first(const YamlValue& value, const std::vector<std::string>& found, const char* what) {
  if (found.size() == 1) return;
  value.fail(fmt::format("{} is expected here{}.", what,
                         found.size() > 1 ? "; what is to hold besides is an entry of its own" : ""));
}

/// The one key of `map` among `keys`.
std::string only_key(const YamlMap& map, const std::vector<std::string>& keys, const char* what) {
  std::vector<std::string> found;
  for (const auto& key : keys) {
    if (map.find(key)) found.push_back(key);
  }
  must_be_first(map.value(), found, what);
  return found.front();
}

std::vector<std::string> sorted_texts(const YamlValue& value) {
  std::vector<std::string> texts;
  for (const auto& item : value.list(kMostTexts)) texts.push_back(item.text());
  if (texts.empty()) value.fail("the list is empty.");
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

std::vector<std::string> domains(const YamlValue& value) {
  std::vector<std::string> all;
  for (const auto& item : value.list(kMostTexts)) {
    auto domain = small_letters(item.line(255));
    if (!is_domain(domain, true))
      item.fail(
          fmt::format("\"{}\" is no domain: example.com, or *.example.com for all below it, in ASCII "
                      "(xn--... of others).",
                      printable(domain.substr(0, 80))));
    all.push_back(std::move(domain));
  }
  if (all.empty()) value.fail("the list is empty.");
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

RuleCondition of_input(const YamlMap& map) {
  using enum ConditionKind;
  static const std::vector<std::string> tests{"present", "equals",    "one_of",    "none_of",     "prefix",
                                              "suffix",  "min_bytes", "max_bytes", "min_entries", "max_entries",
                                              "minimum", "maximum",   "is"};
  const auto input = map.at("input");
  RuleCondition c;
  c.input = input.line(32);
  if (!is_plain_name(c.input)) input.fail(fmt::format("\"{}\" is no name of an input.", printable(c.input)));
  const auto test = only_key(map, tests,
                             "one test of the input (present, equals, one_of, none_of, prefix, suffix, "
                             "min_bytes, max_bytes, min_entries, max_entries, minimum, maximum, is)");
  const auto value = map.at(test);
  const auto number = [&](ConditionKind kind, std::int64_t least, std::int64_t most) {
    c.kind = kind;
    c.number = value.integer(least, most);
  };
  if (test == "present") c.kind = value.boolean() ? kPresent : kAbsent;
  if (test == "is") c.kind = value.boolean() ? kIsTrue : kIsFalse;
  if (test == "equals" || test == "one_of" || test == "none_of") {
    c.kind = test == "none_of" ? kNoneOf : kOneOf;
    c.texts = test == "equals" ? std::vector{value.text()} : sorted_texts(value);
  }
  if (test == "prefix" || test == "suffix") {
    c.kind = test == "prefix" ? kPrefix : kSuffix;
    c.texts = {value.text(500)};
    if (c.texts.front().empty()) value.fail("every text begins and ends with an empty one; name some characters.");
  }
  if (test == "min_bytes") number(kMinBytes, 1, kMostBytes);
  if (test == "max_bytes") number(kMaxBytes, 0, kMostBytes);
  if (test == "min_entries") number(kMinEntries, 1, kMostEntries);
  if (test == "max_entries") number(kMaxEntries, 0, kMostEntries);
  if (test == "minimum") number(kMinimum, -kLargest, kLargest);
  if (test == "maximum") number(kMaximum, -kLargest, kLargest);
  return c;
}

RuleCondition of_recipients(const YamlValue& value) {
  using enum ConditionKind;
  const YamlMap map(value, {"any_inside", "any_outside", "min_count"});
  const auto test =
      only_key(map, {"any_inside", "any_outside", "min_count"}, "one of any_inside, any_outside and min_count");
  RuleCondition c;
  if (test == "min_count") {
    c.kind = kMinRecipients;
    c.number = map.at(test).integer(1, kMostRecipients);
    return c;
  }
  c.kind = test == "any_inside" ? kAnyInside : kAnyOutside;
  c.texts = domains(map.at(test));
  return c;
}

/// "08:30"; "24:00" is the day's end.
int minute_of(const YamlValue& value) {
  const auto text = value.line(5);
  const auto digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  const bool fits = text.size() == 5 && text[2] == ':' && digit(0) && digit(1) && digit(3) && digit(4);
  const int hour = fits ? (text[0] - '0') * 10 + (text[1] - '0') : 0;
  const int minute = fits ? (text[3] - '0') * 10 + (text[4] - '0') : 0;
  if (!fits || minute > 59 || hour * 60 + minute > 24 * 60)
    value.fail("a time of day is expected, such as \"08:30\"; the day ends at \"24:00\".");
  return hour * 60 + minute;
}

std::uint8_t weekdays_of(const YamlValue& value) {
  static const std::vector<std::string> names{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
  std::uint8_t days = 0;
  for (const auto& item : value.list(7)) days = static_cast<std::uint8_t>(days | 1U << item.choice(names));
  if (days == 0) value.fail("the list is empty.");
  return days;
}

TimeWindow window_of(const YamlValue& value) {
  const YamlMap map(value, {"zone", "weekdays", "from", "to"});
  TimeWindow window;
  const auto zone = map.at("zone");
  try {
    window.zone = Zone::named(zone.line(64));
  } catch (const ConfigError& error) {
    zone.fail(error.what());
  }
  if (const auto v = map.find("weekdays")) window.weekdays = weekdays_of(*v);
  const auto from = map.find("from"), to = map.find("to");
  if (from) window.from_minute = minute_of(*from);
  if (to) window.to_minute = minute_of(*to);
  if (!from && !to && !map.find("weekdays")) value.fail("name weekdays, or a time of day (from, to).");
  if (window.from_minute == window.to_minute || window.from_minute == 24 * 60)
    value.fail("the window is empty: it begins where it ends. A whole day needs neither from nor to.");
  return window;
}

RuleCondition of_fact(const YamlMap& map, const FactSource* facts) {
  const auto fact = map.at("fact");
  RuleCondition c;
  c.input = fact.line(60);
  const auto known = facts ? facts->names() : std::vector<std::string>();
  if (std::find(known.begin(), known.end(), c.input) == known.end())
    fact.fail(fmt::format("there is no fact \"{}\"{}; {}.", printable(c.input), did_you_mean(c.input, known),
                          known.empty() ? "this host knows none" : "the documents list those that there are"));
  const auto is = map.find("is");
  c.kind = !is || is->boolean() ? ConditionKind::kFactIs : ConditionKind::kFactIsNot;
  return c;
}

/// Of a capability that there is, or a pattern that fits one.
std::string called_name(const YamlValue& item, const RuleSubjects& subjects) {
  auto pattern = item.line(100);
  check_pattern(item, pattern);
  std::vector<std::string> names;
  for (const auto& definition : subjects.definitions) {
    for (const auto& capability : definition->capabilities) {
      const bool is_called = capability.kind != CapabilityKind::kCancel;
      if (is_called && fits_pattern(pattern, capability.name)) return pattern;
      if (is_called) names.push_back(capability.name);
    }
  }
  item.fail(fmt::format("there is no read or write \"{}\"{}.", printable(pattern), did_you_mean(pattern, names)));
}

RuleCondition of_history(const YamlMap& map, const RuleSubjects& subjects) {
  RuleCondition c;
  c.kind = ConditionKind::kCalled;
  c.number = 1;
  const auto after = map.at("after");
  for (const auto& item : after.list(64)) c.texts.push_back(called_name(item, subjects));
  if (c.texts.empty()) after.fail("the list is empty.");
  std::sort(c.texts.begin(), c.texts.end());
  c.texts.erase(std::unique(c.texts.begin(), c.texts.end()), c.texts.end());
  c.window_ms = map.at("within").duration_ms(kMinute, kLongestHistory);
  const auto least = map.find("at_least"), most = map.find("at_most");
  if (least && most) most->fail("name at_least or at_most; what is to hold besides is an entry of its own.");
  if (least) c.number = least->integer(1, kMostCalls);
  if (most) {
    c.kind = ConditionKind::kNotCalled;
    c.number = most->integer(0, kMostCalls - 1) + 1;
  }
  c.input = fmt::format("called {} x{} in {} s", fmt::join(c.texts, " "), c.number, c.window_ms / 1000);
  return c;
}

}  // namespace

void check_pattern(const YamlValue& value, std::string_view text) {
  const auto stars = std::count(text.begin(), text.end(), '*');
  if (stars > 1 || (stars == 1 && text.front() != '*' && text.back() != '*'))
    value.fail(
        fmt::format("\"{}\" is no pattern that is read here: one * at the beginning or at the end stands for "
                    "any characters.",
                    printable(text)));
}

RuleCondition parse_condition(const YamlValue& value, const RuleSubjects& subjects) {
  static const std::vector<std::string> kinds{"input",        "recipients", "uploads", "time_within",
                                              "time_outside", "fact",       "after"};
  if (value.node().kind != YamlNode::Kind::kMap)
    value.fail("a condition is expected, such as {input: text, min_bytes: 1000}.");
  std::vector<std::string> allowed = kinds;
  for (const char* of_input :
       {"present", "equals", "one_of", "none_of", "prefix", "suffix", "min_bytes", "max_bytes", "min_entries",
        "max_entries", "minimum", "maximum", "is", "within", "at_least", "at_most"})
    allowed.emplace_back(of_input);
  const YamlMap map(value, allowed);
  const auto kind =
      only_key(map, kinds, "one of input, recipients, uploads, time_within, time_outside, fact and after");
  for (const auto& [key, unused] : value.entries()) {
    const auto name = key.text();
    const bool of_history = name == "within" || name == "at_least" || name == "at_most";
    const bool belongs = name == kind || (kind == "input" && !of_history) || (kind == "fact" && name == "is") ||
                         (kind == "after" && of_history);
    if (!belongs)
      key.fail(fmt::format("\"{}\" is a test of {}, and the condition is about {}.", name,
                           of_history ? "what was called (after)" : "an input", kind));
  }
  RuleCondition c;
  if (kind == "input") return of_input(map);
  if (kind == "recipients") return of_recipients(map.at(kind));
  if (kind == "fact") return of_fact(map, subjects.facts);
  if (kind == "after") return of_history(map, subjects);
  if (kind == "uploads") {
    c.kind = map.at(kind).boolean() ? ConditionKind::kUploads : ConditionKind::kNoUploads;
    return c;
  }
  c.kind = kind == "time_within" ? ConditionKind::kTimeWithin : ConditionKind::kTimeOutside;
  c.window = window_of(map.at(kind));
  return c;
}

}  // namespace krux
