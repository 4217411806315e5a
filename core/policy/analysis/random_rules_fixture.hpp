// Rules and requests at random, near enough to each other that conditions hold about as often as they fail.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/rules/rules_fixture.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"

namespace rules_test {

struct SomeFacts final : FactSource {
  Truth truth = Truth::kNotKnown;
  std::vector<std::string> names() const override { return {"known"}; }
  FactAnswer ask(std::string_view, const FactQuestion&) const override { return {truth, {}}; }
  std::int64_t called = -1;  ///< -1: it is not known
  FactAnswer has_called(const RuleCondition& asked, const FactQuestion&) const override {
    if (called < 0) return {};
    return {called >= asked.number ? Truth::kYes : Truth::kNo, {}};
  }
};

struct RandomRequest {
  std::string capability, agent, params;
  std::int64_t wall_ms = 0;
  SomeFacts facts;
};

/// Line by line: of none too, and of names that stand there twice.
inline std::vector<Rule> some_rules(const std::string& lines, const FactSource* facts) {
  std::vector<Rule> all;
  for (std::size_t at = 0; at < lines.size();) {
    const auto end = lines.find('\n', at) + 1;
    const auto one = rules_of(lines.substr(at, end - at), kSystemFile, facts);
    all.insert(all.end(), one.begin(), one.end());
    at = end;
  }
  return all;
}

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }
  std::string one(const std::vector<std::string>& of) { return of[below(of.size())]; }

  /// One rule of a list, in YAML.
  std::string rule(int number) {
    const auto capability = one({"mail.send", "mail.send", "mail.send", "mail.label", "mail.post", "mail.find"});
    std::string yaml = "  - {name: r" + std::to_string(number) + ", capabilities: [" + capability + "]";
    if (chance(30)) yaml += ", agents: [" + one({"bot", "\"sales-*\"", "\"*-bot\"", "sales-bot"}) + "]";
    std::string when;
    for (auto count = below(4); count > 0; --count) when += (when.empty() ? "" : ", ") + condition(capability);
    if (!when.empty()) yaml += ", when: [" + when + "]";
    return yaml + demand(capability == "mail.find") + "}\n";
  }

  /// Some rules that are accepted: contradictions are left out, and counted.
  std::string rules(std::size_t most, const FactSource* facts) {
    std::string all;
    for (auto count = below(most + 1); count > 0; --count) {
      const auto more = rule(static_cast<int>(count));
      ++made_;
      try {
        rules_of(more, kSystemFile, facts);
        all += more;
      } catch (const ConfigError& error) {
        if (std::string_view(error.what()).find("never hold together") == std::string_view::npos) throw;
        ++refused_;
      }
    }
    return all;
  }

  /// Of those that it made, most were accepted: a test over them has looked at something.
  bool most_were_accepted() const { return made_ > 0 && refused_ * 5 < made_; }
  std::string counts() const { return std::to_string(refused_) + " of " + std::to_string(made_) + " refused"; }

  RandomRequest request() {
    RandomRequest request;
    request.capability = one({"mail.send", "mail.send", "mail.label", "mail.post", "mail.find"});
    request.agent = one({"bot", "sales-bot", "sales-amy", "helper-bot", "carl"});
    request.params = params(request.capability);
    request.wall_ms = kTuesdayNoon + static_cast<std::int64_t>(below(14 * 24 * 4)) * 900'000;
    request.facts.truth = static_cast<Truth>(below(3));
    request.facts.called = static_cast<std::int64_t>(below(6)) - 1;
    return request;
  }

 private:
  std::string demand(bool of_read) {
    if (of_read) return ", tier: " + one({"approval_required", "blocked"});
    switch (below(5)) {
      case 0:
        return ", tier: blocked";
      case 1:
        return ", delay_seconds: " + one({"100", "700", "4000"});
      case 2:
        return ", limit: {limit: " + one({"2", "5", "30"}) + ", window: " + one({"1 h", "30 min"}) +
               one({"", ", on_exceed: reject"}) + "}";
      default:
        return ", tier: approval_required" + one({"", "", ", approvals: 2", ", approvals: 3"});
    }
  }

  std::string text_condition(const std::string& input, const std::vector<std::string>& texts) {
    switch (below(7)) {
      case 0:
        return "{input: " + input + ", present: " + one({"true", "false"}) + "}";
      case 1:
        return "{input: " + input + ", one_of: [" + one(texts) + ", " + one(texts) + "]}";
      case 2:
        return "{input: " + input + ", none_of: [" + one(texts) + ", " + one(texts) + "]}";
      case 3:
        return "{input: " + input + ", prefix: " + one({"a", "ab", "abc", "b"}) + "}";
      case 4:
        return "{input: " + input + ", suffix: " + one({"c", "bc", "ab", "a"}) + "}";
      case 5:
        return "{input: " + input + ", min_bytes: " + one({"1", "2", "4", "6"}) + "}";
      default:
        return "{input: " + input + ", max_bytes: " + one({"0", "2", "3", "5"}) + "}";
    }
  }

  std::string condition(const std::string& capability) {
    if (chance(15))
      return one({"{time_within: {zone: UTC, from: \"08:00\", to: \"18:00\"}}",
                  "{time_outside: {zone: America/New_York, weekdays: [mon, tue], from: \"06:00\", to: \"12:00\"}}",
                  "{time_within: {zone: UTC, weekdays: [sat, sun]}}"});
    if (chance(10)) return one({"{fact: known}", "{fact: known, is: false}"});
    if (chance(10))
      return one({"{after: [mail.find], within: 1 h}", "{after: [mail.find], within: 1 h, at_least: 3}",
                  "{after: [mail.find], within: 1 h, at_most: 1}", "{after: [mail.find], within: 1 h, at_most: 3}"});
    if (capability == "mail.find")
      return chance(50) ? text_condition("folder", {"a", "ab", "abc"})
                        : "{input: count, " + one({"minimum: 10", "maximum: 50", "minimum: 60"}) + "}";
    if (capability == "mail.post")
      return chance(50) ? "{input: room, " + one({"equals: red", "none_of: [red, blue]", "prefix: b"}) + "}"
                        : text_condition("note", {"a", "ab", "abc"});
    if (capability == "mail.label")
      return chance(60) ? "{input: labels, " +
                              one({"one_of: [trash, a]", "none_of: [a, ab]", "prefix: a", "min_entries: 2",
                                   "max_entries: 1", "present: true"}) +
                              "}"
                        : text_condition("id", {"a", "ab", "abc"});
    switch (below(6)) {
      case 0:
        return "{recipients: {any_outside: [" + one({"x.org", "\"*.x.org\"", "x.org, \"*.x.org\"", "y.org"}) + "]}}";
      case 1:
        return "{recipients: {any_inside: [" + one({"x.org", "\"*.x.org\"", "y.org", "a.x.org"}) + "]}}";
      case 2:
        return "{recipients: {min_count: " + one({"1", "2", "3"}) + "}}";
      case 3:
        return one({"{uploads: true}", "{uploads: false}", "{input: files, min_entries: 2}",
                    "{input: cc, present: true}", "{input: cc, present: false}", "{input: urgent, is: true}",
                    "{input: urgent, is: false}"});
      default:
        return text_condition(one({"subject", "body"}), {"a", "ab", "abc"});
    }
  }

  std::string word() { return one({"", "a", "ab", "abc", "b", "bc", "abab", "xabc", "abxbc", "zzzz", "abcabc"}); }
  std::string address() { return one({"a@x.org", "b@a.x.org", "c@y.org", "d@z.org", "odd", "e@a.b.x.org"}); }

  std::string addresses() {
    std::string all = address();
    while (chance(40)) all += ", " + address();
    return all;
  }

  std::string list(const std::vector<std::string>& of) {
    std::string all;
    for (auto count = below(4); count > 0; --count) all += (all.empty() ? "" : ",") + json_string(one(of));
    return "[" + all + "]";
  }

  std::string params(const std::string& capability) {
    std::string json;
    const auto add = [&](const std::string& name, const std::string& value, int percent) {
      if (chance(percent)) json += (json.empty() ? "" : ",") + json_string(name) + ":" + value;
    };
    if (capability == "mail.find") {
      add("folder", json_string(word()), 70);
      add("count", std::to_string(1 + below(100)), 100);
    } else if (capability == "mail.post") {
      add("room", json_string(one({"red", "green", "blue"})), 100);
      add("note", json_string(word()), 60);
    } else if (capability == "mail.label") {
      add("id", json_string(one({"a", "ab", "abc", "b", "zzzz"})), 100);
      add("labels", list({"trash", "a", "ab", "zz"}), 70);
    } else {
      add("to", json_string(addresses()), 100);
      add("cc", json_string(chance(20) ? std::string() : addresses()), 40);
      add("subject", json_string(word()), 100);
      add("body", json_string(word()), 60);
      add("urgent", one({"true", "false"}), 50);
      add("files", list({"f1", "f2"}), 50);
    }
    return "{" + json + "}";
  }

  std::mt19937 random_;
  int made_ = 0, refused_ = 0;
};

}  // namespace rules_test
