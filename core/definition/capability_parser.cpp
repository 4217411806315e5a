#include "core/definition/capability_parser.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/definition/asks.hpp"
#include "core/definition/definition_loader.hpp"
#include "core/definition/input_parser.hpp"
#include "core/util/durations.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr int kDeepestOutput = 3;

std::vector<OutputDefinition> parse_outputs(const YamlValue& value, int depth);

/// What an Object holds and each entry of an Array is. Below the first level a name may speak for itself.
void parse_shape(const YamlMap& map, OutputDefinition& output, int depth) {  // NOLINT(misc-no-recursion)
  if (auto v = find_for(map, "fields", output.type == InputType::kObject, "Object"))
    output.fields = parse_outputs(*v, depth + 1);
  const auto value = find_for(map, "items", output.type == InputType::kArray, "Array");
  if (!value) return;
  const YamlMap item(*value, {"type", "description", "fields"});
  OutputDefinition entry;
  const auto type = item.at("type");
  entry.type = parse_type(type);
  if (entry.type == InputType::kArray) type.fail("an entry cannot be an Array again.");
  if (auto v = item.find("description")) entry.description = v->line(1000);
  parse_shape(item, entry, depth);
  output.items = {std::move(entry)};
}

/// What a model is handed the output as.
void parse_content(const YamlMap& map, OutputDefinition& output, int depth) {
  const auto value = map.find("content");
  if (!value) return;
  if (depth > 0) value->fail("only a whole output is handed over as content, not a field of one.");
  output.content = value->choice_of<ContentKind>({{"text", ContentKind::kText},
                                                  {"image", ContentKind::kImage},
                                                  {"audio", ContentKind::kAudio},
                                                  {"resource", ContentKind::kResource}});
  const bool text = output.content == ContentKind::kText;
  if (output.type != (text ? InputType::kString : InputType::kObject))
    value->fail(fmt::format("content of this kind is of type {}.", text ? "String" : "Object"));
}

std::vector<OutputDefinition> parse_outputs(const YamlValue& value, int depth) {  // NOLINT(misc-no-recursion)
  if (depth > kDeepestOutput) value.fail(fmt::format("fields stand in fields at most {} deep.", kDeepestOutput));
  std::vector<OutputDefinition> outputs;
  for (const auto& item : value.list(64)) {
    const YamlMap map(item, {"name", "type", "description", "fields", "items", "content"});
    OutputDefinition output;
    output.name = parse_name(map.at("name"), "an output");
    output.type = parse_type(map.at("type"));
    const auto description = depth == 0 ? std::optional(map.at("description")) : map.find("description");
    if (description) output.description = description->line(2000);
    parse_shape(map, output, depth);
    parse_content(map, output, depth);
    for (const auto& other : outputs) {
      if (other.name == output.name) item.fail(fmt::format("the output \"{}\" stands here twice.", output.name));
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

std::vector<std::string> input_names(const CapabilityDefinition& capability) {
  std::vector<std::string> names;
  for (const auto& input : capability.inputs) names.push_back(input.name);
  return names;
}

void require_input(const CapabilityDefinition& capability, const YamlValue& place, const std::string& name) {
  const auto names = input_names(capability);
  if (std::count(names.begin(), names.end(), name) == 0)
    place.fail(
        fmt::format("\"{}\" is not an input of {}{}.", printable(name), capability.name, did_you_mean(name, names)));
}

CountsAs parse_counts_as(const YamlValue& value, const CapabilityDefinition& capability) {
  const YamlMap map(value, {"input", "holds", "capability"});
  CountsAs rule;
  const auto input = map.at("input");
  rule.input = input.text();
  require_input(capability, input, rule.input);
  const auto is = [&](const InputDefinition& i) {
    return i.name == rule.input && (i.type == InputType::kString || i.type == InputType::kArray);
  };
  if (std::none_of(capability.inputs.begin(), capability.inputs.end(), is))
    input.fail("only inputs of type String or Array can be looked at here.");
  const auto holds = map.at("holds");
  rule.holds = holds.lines(100);
  if (rule.holds.empty()) holds.fail("the list is empty.");
  rule.capability = map.at("capability").line(100);
  return rule;
}

void parse_one_input_of(const YamlValue& value, CapabilityDefinition& capability) {
  for (const auto& group : value.list(16)) {
    auto names = group.lines(16);
    if (names.size() < 2) group.fail("a group names two inputs or more, of which one must be given.");
    for (const auto& name : names) require_input(capability, group, name);
    capability.one_input_of.push_back(std::move(names));
  }
}

std::vector<std::string> names_in(const YamlValue& value, const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    const auto end = text.find('}', at);
    if (end == std::string::npos) value.fail("a { has no }; {input} stands for an input's value.");
    names.push_back(text.substr(at + 1, end - at - 1));
  }
  return names;
}

/// `others`: names that may stand there besides the inputs'.
void check_template(const YamlValue& value, const CapabilityDefinition& capability, const std::string& text,
                    const std::vector<std::string>& others = {}) {
  for (const auto& name : names_in(value, text)) {
    if (std::count(others.begin(), others.end(), name) == 0) require_input(capability, value, name);
  }
}

/// `true`: by the target. Otherwise a template of its own, which may name what the adapter's resolution adds.
void parse_order(const YamlValue& value, CapabilityDefinition& capability) {
  const auto text = value.line(300);
  if (text.find('{') == std::string::npos) {
    if (!value.boolean()) return;
    if (capability.target.empty())
      value.fail("what is ordered needs a target, or says by what it is ordered: ordered: \"{thread}\".");
    capability.order = capability.target;
    return;
  }
  for (const auto& name : names_in(value, text)) {
    if (!is_plain_name(name))
      value.fail(
          fmt::format("\"{{{}}}\" names no parameter: an input, or one that the adapter adds.", printable(name)));
  }
  capability.order = text;
}

SummaryRecord parse_summary_record(const YamlValue& value, const CapabilityDefinition& capability) {
  const YamlMap map(value, {"name", "collection", "id", "words", "members"});
  SummaryRecord record;
  record.name = parse_name(map.at("name"), "what stands for a record");
  record.collection = parse_name(map.at("collection"), "a collection");
  const auto id = map.at("id"), words = map.at("words");
  record.id = id.line(300);
  check_template(id, capability, record.id);
  for (const auto& input : capability.inputs) {
    const auto place = "{" + input.name + "}";
    if (input.type == InputType::kArray && record.id.find(place) != std::string::npos && record.id != place)
      id.fail(fmt::format("\"{}\" is a list of ids: it stands alone, id: \"{}\".", input.name, place));
  }
  record.words = words.line(300);
  const auto members = names_in(words, record.words);
  if (members.empty()) words.fail("no member of the record is named: words: \"{subject}\".");
  for (const auto& name : members) {
    if (!is_member_path(name)) words.fail(fmt::format("\"{{{}}}\" names no member of a record.", printable(name)));
  }
  if (const auto v = map.find("members")) record.members = parse_name(*v, "a member of a record");
  return record;
}

PassedOn parse_passed_on(const YamlValue& value, const CapabilityDefinition& capability) {
  const YamlMap map(value, {"collection", "id", "texts", "blobs"});
  PassedOn record;
  record.collection = parse_name(map.at("collection"), "a collection");
  const auto id = map.at("id");
  record.id = id.line(300);
  check_template(id, capability, record.id);
  for (const auto& item : map.at("texts").list(16)) record.texts.push_back(parse_name(item, "a member of a record"));
  if (const auto v = map.find("blobs")) {
    for (const auto& item : v->list(8)) record.blobs.push_back(parse_name(item, "a blob"));
  }
  return record;
}

void parse_write(const YamlMap& map, CapabilityDefinition& capability) {
  if (auto v = map.find("delay")) {
    capability.immediate = v->text() == "immediate";
    if (capability.immediate) {
      capability.delay_ms = 0;
    } else {
      capability.delay_ms = v->duration_ms(0, kLongestWindow);
    }
  }
  if (auto v = map.find("settle")) capability.settle_ms = v->duration_ms(0, kDay);
  if (auto v = map.find("undoable")) capability.undoable = v->boolean();
  if (auto v = map.find("destructive")) capability.destructive = v->boolean();
  if (auto v = map.find("ordered")) parse_order(*v, capability);
  if (auto v = map.find("cleanup")) capability.cleanup = v->boolean();
  if (auto v = map.find("harmless_to_repeat")) capability.harmless_to_repeat = v->boolean();
  if (auto v = map.find("counts_as")) {
    for (const auto& item : v->list(16)) capability.counts_as.push_back(parse_counts_as(item, capability));
  }
  capability.when_absent = capability.harmless_to_repeat ? WhenAbsent::kResend : WhenAbsent::kAsk;
  if (auto v = map.find("when_absent")) {
    capability.when_absent = v->choice_of<WhenAbsent>({{"ask", WhenAbsent::kAsk}, {"resend", WhenAbsent::kResend}});
    if (capability.when_absent == WhenAbsent::kResend && !capability.harmless_to_repeat)
      v->fail(
          "resend is only for operations with harmless_to_repeat: true; what is absent may have been removed by "
          "somebody, and would be done twice.");
  }
  // Not inputs alone: what the adapter resolves may name more.
  if (auto v = map.find("recipients")) {
    for (const auto& name : v->list(16)) capability.recipients.push_back(parse_name(name, "a parameter"));
  }
  if (auto v = map.find("recipients_are")) {
    capability.recipients_are_texts = v->choice({"addresses", "texts"}) == 1;
    if (capability.recipients.empty()) v->fail("it says what \"recipients\" are, and none are named.");
  }
  if (auto v = map.find("summary_records")) {
    for (const auto& item : v->list(8)) capability.summary_records.push_back(parse_summary_record(item, capability));
  }
  if (auto v = map.find("passes_on")) capability.passes_on = parse_passed_on(*v, capability);
  if (auto v = map.find("summary")) {
    capability.summary = v->line(300);
    auto others = capability.recipients;
    for (const auto& record : capability.summary_records) others.push_back(record.name);
    check_template(*v, capability, capability.summary, others);
  }
}

/// Keys of one kind of capability only.
void refuse_misplaced(const YamlMap& map, CapabilityKind kind) {
  const auto refuse = [&](std::initializer_list<const char*> keys, const char* only_for) {
    for (const auto* key : keys) {
      if (auto v = map.find(key)) v->fail(fmt::format("\"{}\" is only for capabilities of kind {}.", key, only_for));
    }
  };
  if (kind != CapabilityKind::kWrite)
    refuse({"delay", "settle", "undoable", "destructive", "cleanup", "ordered", "harmless_to_repeat", "when_absent",
            "summary", "summary_records", "passes_on", "counts_as", "recipients", "recipients_are"},
           "write");
  if (kind == CapabilityKind::kCancel) refuse({"target"}, "read or write");
  if (kind != CapabilityKind::kRead) refuse({"fetches", "takes_long", "confidentiality", "asks"}, "read");
  if (kind == CapabilityKind::kCancel) refuse({"inputs", "one_input_of", "schema"}, "read or write");
}

/// Each names a write of the same definition that is handled by its own rules.
void check_counts_as(const YamlValue& value, const std::vector<CapabilityDefinition>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const auto& rule : all[i].counts_as) {
      const auto named = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.name == rule.capability; });
      if (named == all.end() || named->kind != CapabilityKind::kWrite || !named->counts_as.empty() ||
          rule.capability == all[i].name)
        value.list()[i].fail(
            fmt::format("{} counts as \"{}\", which is no other write of this definition with rules of "
                        "its own.",
                        all[i].name, printable(rule.capability)));
    }
  }
}

std::uint32_t parse_asks(const YamlValue& value) {
  std::uint32_t asks = 0;
  for (const auto& one : value.list(kAsks.size())) {
    const auto name = one.text();
    const auto* const known =
        std::find_if(kAsks.begin(), kAsks.end(), [&](const auto& ask) { return ask.second == name; });
    if (known == kAsks.end())
      one.fail(fmt::format("\"{}\" is nothing that can be asked: form, url, model, roots.", printable(name)));
    asks |= known->first;
  }
  return asks;
}

std::string parse_capability_name(const YamlValue& value, const std::string& prefix) {
  auto name = value.text();
  if (name == prefix) return name;
  if (name.starts_with(prefix + ".") && is_plain_name(std::string_view(name).substr(prefix.size() + 1))) return name;
  value.fail(
      fmt::format("\"{0}\" is no name for a capability here: {1}.<name> is expected, such as {1}.search, or the "
                  "prefix alone.",
                  printable(name), prefix));
}

/// What only reads have; refuse_misplaced() refuses it elsewhere.
void parse_read(const YamlMap& map, CapabilityDefinition& c) {
  if (auto v = map.find("fetches")) c.fetches = v->boolean();
  if (auto v = map.find("takes_long")) {
    c.takes_long = v->choice_of<TakesLong>(
        {{"false", TakesLong::kNo}, {"true", TakesLong::kMay}, {"as_task", TakesLong::kAsTask}});
    if (c.takes_long != TakesLong::kNo && !c.fetches)
      v->fail("\"takes_long\" is only for reads that ask their service (fetches: true): others have ten seconds.");
  }
  if (auto v = map.find("asks")) c.asks = parse_asks(*v);
  if (auto v = map.find("confidentiality"))
    c.confidentiality =
        v->choice_of<Confidentiality>({{"private", Confidentiality::kPrivate}, {"public", Confidentiality::kPublic}});
}

CapabilityDefinition parse_capability(const YamlValue& value, const std::string& prefix) {
  const YamlMap map(value, {"name",
                            "kind",
                            "tier",
                            "purpose",
                            "when_to_use",
                            "tags",
                            "inputs",
                            "outputs",
                            "required_scopes",
                            "one_input_of",
                            "fetches",
                            "takes_long",
                            "confidentiality",
                            "delay",
                            "settle",
                            "undoable",
                            "destructive",
                            "core",
                            "ordered",
                            "cleanup",
                            "harmless_to_repeat",
                            "when_absent",
                            "summary",
                            "summary_records",
                            "passes_on",
                            "target",
                            "counts_as",
                            "recipients",
                            "recipients_are",
                            "schema",
                            "asks"});
  CapabilityDefinition c;
  c.name = parse_capability_name(map.at("name"), prefix);
  c.kind = map.at("kind").choice_of<CapabilityKind>(
      {{"read", CapabilityKind::kRead}, {"write", CapabilityKind::kWrite}, {"cancel", CapabilityKind::kCancel}});
  c.tier = map.at("tier").choice_of<Tier>({{"autonomous", Tier::kAutonomous},
                                           {"notify", Tier::kNotify},
                                           {"approval_required", Tier::kApprovalRequired},
                                           {"blocked", Tier::kBlocked}});
  c.purpose = map.at("purpose").line(1000);
  c.when_to_use = map.at("when_to_use").line(2000);
  if (auto v = map.find("tags")) c.tags = v->lines(16);
  if (auto v = map.find("outputs")) {
    c.outputs = parse_outputs(*v, 0);
    if (c.kind != CapabilityKind::kRead && !content_outputs(c).empty())
      v->fail("\"content\" is only for outputs of capabilities of kind read.");
  }
  if (auto v = map.find("required_scopes")) c.required_scopes = v->lines(32);
  if (auto v = map.find("core")) c.core = v->boolean();
  refuse_misplaced(map, c.kind);
  if (auto v = map.find("inputs")) c.inputs = parse_inputs(*v);
  if (auto v = map.find("one_input_of")) parse_one_input_of(*v, c);
  if (auto v = map.find("schema")) c.schema = parse_input_schema(*v);
  parse_read(map, c);
  if (auto v = map.find("target")) {
    c.target = v->line(300);
    check_template(*v, c, c.target);
  }
  if (c.kind == CapabilityKind::kWrite) parse_write(map, c);
  if (c.kind == CapabilityKind::kCancel) c.inputs = cancel_inputs();
  return c;
}

}  // namespace

const std::vector<std::string>& host_inputs() {
  static const std::vector<std::string> names{"account", "idempotency_key", "allow_duplicate", "send_at"};
  return names;
}

std::vector<InputDefinition> cancel_inputs() {
  InputDefinition id;
  id.name = "write_id";
  id.description = "The write's (w_...).";
  id.required = true;
  id.aliases = {"buffer_id"};
  id.max_length = 64;
  return {id};
}

std::vector<CapabilityDefinition> parse_capabilities(const YamlValue& value, const std::string& prefix) {
  std::vector<CapabilityDefinition> all;
  for (const auto& item : value.list(256)) {
    auto capability = parse_capability(item, prefix);
    for (const auto& other : all) {
      if (other.name == capability.name)
        item.fail(fmt::format("the capability {} is defined for the second time.", other.name));
    }
    all.push_back(std::move(capability));
  }
  if (all.empty()) value.fail("the list is empty; a service has one capability at least.");
  check_counts_as(value, all);
  return all;
}

}  // namespace krux
