#include "host/plugins/mock_script.hpp"

#include <fmt/format.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/capability/output_check.hpp"
#include "core/util/checked_file.hpp"
#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::uintmax_t kLargestScript = 16 << 20;

/// Where each object of the list "rules" begins.
class RulePlaces : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, RulePlaces> {
 public:
  explicit RulePlaces(std::string_view text) : stream_(text.data(), text.size()) {
    rapidjson::Reader reader;
    reader.Parse<rapidjson::kParseIterativeFlag>(stream_, *this);
  }
  std::vector<std::size_t> offsets;

  bool Key(const char* name, rapidjson::SizeType length, bool) {
    if (depth_ == 1) in_rules_ = std::string_view(name, length) == "rules";
    return true;
  }
  bool StartObject() {
    if (in_rules_ && depth_ == 2) offsets.push_back(stream_.Tell());
    return ++depth_ > 0;
  }
  bool EndObject(rapidjson::SizeType) { return --depth_ >= 0; }
  bool StartArray() { return ++depth_ > 0; }
  bool EndArray(rapidjson::SizeType) { return --depth_ >= 0; }

 private:
  rapidjson::MemoryStream stream_;
  int depth_ = 0;
  bool in_rules_ = false;
};

/// What a call of a rule is about.
enum class About { kNothing, kReads, kWrites, kBoth };

About about(std::string_view call) {
  if (call == "read") return About::kReads;
  if (call == "resolve") return About::kBoth;
  for (const auto* of_writes : {"execute_write", "find_effect", "create_rollback_point", "rollback", "find_rollback"}) {
    if (call == of_writes) return About::kWrites;
  }
  return About::kNothing;
}

class ScriptCheck {
 public:
  ScriptCheck(const JsonValue& script, const ServiceDefinition& definition) : script_(script), definition_(definition) {
    // What a rule of resolve() answers are the parameters of what follows.
    for (const auto& rule : rules()) {
      const auto* answer = find_member(rule, "answer");
      if (find_string(rule, "call") != "resolve" || !answer || !answer->IsObject()) continue;
      for (const auto& member : answer->GetObject()) resolved_.emplace(view(member.name));
    }
  }

  std::vector<std::reference_wrapper<const JsonValue>> rules() const {
    std::vector<std::reference_wrapper<const JsonValue>> all;
    const auto* rules = find_member(script_, "rules");
    if (!rules || !rules->IsArray()) return all;
    for (const auto& rule : rules->GetArray()) {
      if (rule.IsObject()) all.emplace_back(rule);
    }
    return all;
  }

  std::string rule_problem(const JsonValue& rule) const {
    const auto what = about(find_string(rule, "call").value_or(""));
    if (what == About::kNothing) return {};
    const auto named = find_string(rule, "operation");
    const auto of = capabilities(what, named);
    if (named && of.empty()) return unknown_operation(what, *named);
    if (const auto why = when_problem(rule, of, named ? *named : ""); !why.empty()) return why;
    return named && what == About::kReads ? answer_problem(rule, *of.front()) : "";
  }

  std::string undoable_problem() const {
    const auto* undoable = find_member(script_, "undoable");
    if (!undoable || !undoable->IsArray()) return {};
    for (const auto& one : undoable->GetArray()) {
      if (one.IsString() && capabilities(About::kWrites, view(one)).empty())
        return "\"undoable\": " + unknown_operation(About::kWrites, view(one));
    }
    return {};
  }

 private:
  using Capabilities = std::vector<const CapabilityDefinition*>;

  Capabilities capabilities(About what, std::optional<std::string_view> named) const {
    Capabilities all;
    for (const auto& one : definition_.capabilities) {
      const bool read = one.kind == CapabilityKind::kRead, write = one.kind == CapabilityKind::kWrite;
      const bool meant = (read && what != About::kWrites) || (write && what != About::kReads);
      if (meant && (!named || one.name == *named)) all.push_back(&one);
    }
    return all;
  }

  std::string unknown_operation(About what, std::string_view named) const {
    std::vector<std::string> known;
    for (const auto* one : capabilities(what, std::nullopt)) known.push_back(one->name);
    return fmt::format("The definition of {} has no {} \"{}\"{}.", definition_.service,
                       what == About::kReads    ? "read"
                       : what == About::kWrites ? "write"
                                                : "capability",
                       printable(named), did_you_mean(named, known));
  }

  std::string when_problem(const JsonValue& rule, const Capabilities& of, std::string_view named) const {
    const auto* when = find_member(rule, "when");
    if (!when || !when->IsObject()) return {};
    std::vector<std::string> known(resolved_.begin(), resolved_.end());
    for (const auto* one : of) {
      for (const auto& input : one->inputs) known.push_back(input.name);
    }
    for (const auto& member : when->GetObject()) {
      const std::string name(view(member.name));
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      return fmt::format("\"when\": {} takes no \"{}\"{}, so that the rule never fits.",
                         named.empty() ? "no such capability of " + definition_.service : std::string(named),
                         printable(name), did_you_mean(name, known));
    }
    return {};
  }

  std::string answer_problem(const JsonValue& rule, const CapabilityDefinition& capability) const {
    const auto* answer = find_member(rule, "answer");
    if (!answer || capability.outputs.empty()) return {};
    const auto prefix = fmt::format("The answer of {}: ", capability.name);
    if (!answer->IsObject()) return prefix + "It must be an object.";
    std::vector<std::string> known;
    for (const auto& output : capability.outputs) known.push_back(output.name);
    for (const auto& member : answer->GetObject()) {
      const std::string name(view(member.name));
      if (std::find(known.begin(), known.end(), name) == known.end())
        return prefix + fmt::format("The definition promises no \"{}\"{}.", printable(name), did_you_mean(name, known));
    }
    const bool all = !find_member(rule, "answers_as");  // which adds one
    const auto problem = output_problem(capability, *answer, all);
    return problem.empty() ? "" : prefix + problem;
  }

  const JsonValue& script_;
  const ServiceDefinition& definition_;
  std::set<std::string> resolved_;
};

}  // namespace

std::string script_text_problem(std::string_view text, const std::string& name, const ServiceDefinition& definition) {
  JsonDocument script;
  try {
    script = parse_json(text, name, {.max_bytes = kLargestScript, .max_depth = 64});
  } catch (const Error&) {
    return {};
  }
  if (!script.IsObject()) return {};
  const ScriptCheck check(script, definition);
  const auto rules = check.rules();
  const RulePlaces places(text);
  for (std::size_t i = 0; i < rules.size() && i < places.offsets.size(); ++i) {
    const auto problem = check.rule_problem(rules[i]);
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(places.offsets[i]);
    if (!problem.empty()) return fmt::format("{}:{}: {}", name, std::count(text.begin(), end, '\n') + 1, problem);
  }
  const auto problem = check.undoable_problem();
  return problem.empty() ? "" : name + ": " + problem;
}

std::string mock_script_problem(const std::filesystem::path& script, const ServiceDefinition& definition) {
  const auto read = read_checked_file(script, kLargestScript, FileWriters::kAnybody);
  return read.problem.empty() ? script_text_problem(read.bytes, script.filename().string(), definition) : "";
}

}  // namespace krux
