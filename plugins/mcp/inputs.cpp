#include "inputs.hpp"

#include <kruxos/kit/text.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "names.hpp"
#include "text.hpp"

namespace mcp {
namespace {

using kruxos::kit::integer_of;
using kruxos::kit::Json;
using kruxos::kit::member;
using kruxos::kit::text_of;

constexpr std::size_t kMostInputs = 60, kMostValues = 100, kLongestInputName = 32;
constexpr std::size_t kLongestArgument = 256, kLongestValue = 400;
constexpr std::size_t kLongestOfInput = 500, kLongestDefault = 100, kLongestShape = 300;  ///< together below 1,000
constexpr int kMostRefs = 4;
constexpr std::int64_t kLargest = std::int64_t{1} << 53;
constexpr std::array<std::string_view, 4> kOfTheHost{"account", "idempotency_key", "allow_duplicate", "send_at"};

/// What {"$ref": "#/$defs/X"} stands for; anything else is itself. nullptr: it leads nowhere that is known here.
const Json* resolved(const Json& root, const Json* schema) {
  for (int steps = 0; schema && steps < kMostRefs; ++steps) {
    const auto ref = text_of(*schema, "$ref");
    if (ref.empty()) return schema;
    const auto name = ref.substr(std::min(ref.size(), ref.rfind('/') + 1));
    const Json* group = nullptr;
    for (const auto* place : {"$defs", "definitions"}) {
      if (ref == "#/" + std::string(place) + "/" + std::string(name)) group = member(root, place);
    }
    schema = group ? member(*group, name) : nullptr;
  }
  return nullptr;
}

/// Of {"anyOf": [X, {"type": "null"}]}, as several libraries write what may be left out: X.
const Json* simple_part(const Json& schema) {
  for (const auto* name : {"anyOf", "oneOf"}) {
    const auto* parts = kruxos::kit::objects_of(schema, name);
    if (!parts) continue;
    const Json* only = nullptr;
    for (const auto& part : parts->GetArray()) {
      if (text_of(part, "type") == "null") continue;
      if (only) return nullptr;
      only = &part;
    }
    return only;
  }
  return &schema;
}

bool is_texts(const Json* values) {
  return values && values->IsArray() && !values->Empty() &&
         std::all_of(values->Begin(), values->End(), [](const Json& value) { return value.IsString(); });
}

/// The type's name; of ["string", "null"] the first. Empty: it has none, or several.
std::string_view type_of(const Json& schema) {
  const auto* type = member(schema, "type");
  if (!type) return is_texts(member(schema, "enum")) ? "string" : "";
  if (type->IsString()) return text_of(schema, "type");
  if (!type->IsArray()) return {};
  std::string_view only;
  for (const auto& one : type->GetArray()) {
    if (!one.IsString()) return {};
    const std::string_view name(one.GetString(), one.GetStringLength());
    if (name == "null") continue;
    if (!only.empty()) return {};
    only = name;
  }
  return only;
}

std::string name_of_type(std::string_view type) {
  if (type == "string") return "String";
  if (type == "integer") return "Integer";
  if (type == "number") return "Number";
  if (type == "boolean") return "Boolean";
  if (type == "array") return "Array";
  return type == "object" ? "Object" : "";
}

void append(std::string& more, const std::string& key, const std::string& value) {
  more += (more.empty() ? "" : ", ") + key + ": " + value;
}

/// What a definition can hold an input to; the server checks the rest itself.
std::string bounds_of(const Json& schema, std::string_view type) {
  std::string more;
  const auto take = [&](const char* theirs, const char* ours, std::int64_t least, std::int64_t most) {
    const auto* value = member(schema, theirs);
    if (value && value->IsInt64() && value->GetInt64() >= least && value->GetInt64() <= most)
      append(more, ours, std::to_string(value->GetInt64()));
  };
  const auto fits = [&](const char* least, const char* most) {
    return integer_of(schema, least, std::numeric_limits<std::int64_t>::min()) <=
           integer_of(schema, most, std::numeric_limits<std::int64_t>::max());
  };
  if (type == "integer" && fits("minimum", "maximum")) {
    take("minimum", "minimum", -kLargest, kLargest);
    take("maximum", "maximum", -kLargest, kLargest);
  }
  if (type == "string" && fits("minLength", "maxLength")) {
    take("minLength", "min_length", 0, 1'000'000);
    take("maxLength", "max_length", 1, 1'000'000);
  }
  if (type == "array" && fits("minItems", "maxItems")) {
    take("minItems", "min_length", 0, 1'000'000);
    take("maxItems", "max_length", 1, 1'000'000);
  }
  const auto* values = kruxos::kit::array_of(schema, "enum");
  if (type == "string" && values && values->Size() > 0 && values->Size() <= kMostValues) {
    kruxos::kit::ArrayWriter list;
    std::set<std::string_view> known;
    for (const auto& value : values->GetArray()) {
      const auto text = value.IsString() ? std::string_view(value.GetString(), value.GetStringLength()) : "";
      if (text.size() > kLongestValue || !is_one_line(text)) return more;
      if (known.insert(text).second) list.text(text);
    }
    append(more, "one_of", list.done());
  }
  return more;
}

/// Of an Array whose entries are all of one simple type.
std::string items_of(const Json& schema) {
  const auto* items = member(schema, "items");
  if (!items || !items->IsObject()) return {};
  const auto* entry = simple_part(*items);
  const auto type = entry ? type_of(*entry) : "";
  const auto name = name_of_type(type);
  if (name.empty() || type == "array" || member(*entry, "$ref")) return {};
  const auto bounds = bounds_of(*entry, type);
  return "items: {type: " + name + (bounds.empty() ? "" : ", " + bounds) + "}";
}

/// What the server says of it, what it takes where nothing is given, and of what an object is made.
std::string description_of(const Json& property, const Json& schema, std::string_view type) {
  auto said = one_line(text_of(property, "description", text_of(schema, "description", text_of(property, "title"))),
                       kLongestOfInput);
  if (said.empty()) said = "The server says nothing of it.";
  if (!said.ends_with('.')) said += '.';
  const auto* otherwise = member(property, "default");
  if (otherwise && !otherwise->IsNull())
    said += " Unless given: " + one_line(kruxos::kit::json_text(*otherwise), kLongestDefault) + ".";
  if (const auto* parts = member(schema, "properties"); type == "object" && parts)
    said += " Its members: " + one_line(kruxos::kit::json_text(*parts), kLongestShape);
  return said;
}

std::optional<Input> input_of(const Json& root, std::string_view argument, const Json& property, bool required) {
  const auto* named = resolved(root, &property);
  const auto* schema = named ? simple_part(*named) : nullptr;
  schema = resolved(root, schema);
  if (!schema || !schema->IsObject() || member(*schema, "allOf")) return std::nullopt;
  Input input;
  const auto type = type_of(*schema);
  input.type = name_of_type(type);
  if (input.type.empty()) return std::nullopt;
  input.argument = argument;
  input.description = description_of(property, *schema, type);
  input.required = required;
  input.more = bounds_of(*schema, type);
  if (type == "array") {
    if (const auto items = items_of(*schema); !items.empty()) input.more += (input.more.empty() ? "" : ", ") + items;
  }
  return input;
}

std::string name_of(const std::string& argument) {
  auto name = plain_name(argument, kLongestInputName);
  const bool taken = std::find(kOfTheHost.begin(), kOfTheHost.end(), name) != kOfTheHost.end();
  return taken ? "tool_" + name : name;
}

/// First those that are called as before, then those that need no other name, then the rest by their arguments.
void give_names(std::vector<Input>& inputs, const WrappedTool* before) {
  std::set<std::string> taken;
  std::vector<Input*> open;
  for (auto& input : inputs) {
    const auto is = [&](const auto& known) { return known.second == input.argument; };
    const auto known = before ? std::find_if(before->arguments.begin(), before->arguments.end(), is)
                              : std::map<std::string, std::string>::const_iterator{};
    if (before && known != before->arguments.end()) {
      taken.insert(input.name = known->first);
    } else {
      open.push_back(&input);
    }
  }
  const auto order = [](const Input* input) {
    return std::pair(name_of(input->argument) != input->argument, input->argument);
  };
  std::sort(open.begin(), open.end(), [&](const Input* a, const Input* b) { return order(a) < order(b); });
  for (auto* input : open) {
    input->name = name_of(input->argument);
    for (std::size_t tries = 0; !taken.insert(input->name).second; ++tries)
      input->name = told_apart(input->argument, kLongestInputName, tries);
  }
}

}  // namespace

std::optional<std::vector<Input>> inputs_of(const Tool& tool, const WrappedTool* before) {
  const auto schema = kruxos::kit::parse(tool.input_schema_json);
  for (const auto* word : {"anyOf", "oneOf", "allOf", "$ref", "not", "if", "patternProperties", "dependentSchemas"}) {
    if (member(schema, word)) return std::nullopt;
  }
  const auto* properties = member(schema, "properties");
  if (!properties || !properties->IsObject()) {
    const auto* others = member(schema, "additionalProperties");
    const bool takes_others = others && !(others->IsBool() && !others->GetBool());
    if (takes_others) return std::nullopt;
    return std::vector<Input>{};
  }
  if (properties->MemberCount() > kMostInputs) return std::nullopt;
  const auto needed = kruxos::kit::texts_of(schema, "required");
  std::vector<Input> inputs;
  std::set<std::string> arguments;
  for (const auto& one : properties->GetObject()) {
    const std::string argument(one.name.GetString(), one.name.GetStringLength());
    const bool required = std::find(needed.begin(), needed.end(), argument) != needed.end();
    if (argument.size() > kLongestArgument) return std::nullopt;
    auto input = input_of(schema, argument, one.value, required);
    if (!input || !arguments.insert(argument).second) return std::nullopt;
    inputs.push_back(std::move(*input));
  }
  give_names(inputs, before);
  return inputs;
}

}  // namespace mcp
