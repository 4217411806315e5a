#include "core/definition/input_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/definition/capability_parser.hpp"
#include "core/definition/definition_loader.hpp"
#include "core/definition/input_check.hpp"
#include "core/definition/json_schema.hpp"
#include "core/definition/prompt_parser.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
InputType parse_type(const YamlValue& value) {
  return value.choice_of<InputType>({{"String", InputType::kString},
                                     {"Integer", InputType::kInteger},
                                     {"Number", InputType::kNumber},
                                     {"Boolean", InputType::kBoolean},
                                     {"Array", InputType::kArray},
                                     {"Object", InputType::kObject},
                                     {"DateTime", InputType::kDateTime}});
}

std::string parse_name(const YamlValue& value, const char* what) {
  auto name = value.text();
  if (!is_plain_name(name))
    value.fail(
        fmt::format("\"{}\" is no name for {}: small letters, digits and _ are accepted, at most 32, a letter "
                    "first.",
                    printable(name), what));
  return name;
}

std::optional<YamlValue> find_for(const YamlMap& map, const char* key, bool fits, const char* types) {
  auto value = map.find(key);
  if (value && !fits) value->fail(fmt::format("\"{}\" is only for type {}.", key, types));
  return value;
}

namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 53;

void parse_bounds(const YamlMap& map, InputDefinition& input) {
  const bool integer = input.type == InputType::kInteger;
  const bool sized = input.type == InputType::kString || input.type == InputType::kArray;
  if (auto v = find_for(map, "minimum", integer, "Integer")) input.minimum = v->integer(-kLargest, kLargest);
  if (auto v = find_for(map, "maximum", integer, "Integer")) {
    input.maximum = v->integer(-kLargest, kLargest);
    if (input.minimum && *input.maximum < *input.minimum) v->fail("the maximum is below the minimum.");
  }
  if (auto v = find_for(map, "min_length", sized, "String or Array"))
    input.min_length = static_cast<std::size_t>(v->integer(0, 1'000'000));
  if (auto v = find_for(map, "max_length", sized, "String or Array")) {
    input.max_length = static_cast<std::size_t>(v->integer(1, 1'000'000));
    if (input.min_length && *input.max_length < *input.min_length) v->fail("max_length is below min_length.");
  }
  if (auto v = find_for(map, "one_of", input.type == InputType::kString, "String")) {
    input.one_of = v->lines(100);
    if (input.one_of.empty()) v->fail("the list is empty; leave the key out to allow any text.");
  }
  if (auto v = find_for(map, "uploads", input.type == InputType::kArray, "Array")) input.uploads = v->boolean();
}

void parse_default(const YamlMap& map, InputDefinition& input) {
  const auto value = map.find("default");
  if (!value) return;
  if (input.required) value->fail("an input that is required has no default; remove one of the two.");
  const auto json = value->json();
  const auto document = parse_json(json, "the default");
  const auto why = why_not_value(input, document);
  if (!why.empty()) value->fail(fmt::format("the default does not fit the input: {}.", why));
  input.default_json = canonical_json(document);
}

/// What each entry of an Array is.
void parse_items(const YamlMap& map, InputDefinition& input) {
  const auto value = find_for(map, "items", input.type == InputType::kArray, "Array");
  if (!value) return;
  const YamlMap item(*value, {"type", "minimum", "maximum", "min_length", "max_length", "one_of"});
  InputDefinition entry;
  const auto type = item.at("type");
  entry.type = parse_type(type);
  if (entry.type == InputType::kArray) type.fail("an entry cannot be an Array again.");
  parse_bounds(item, entry);
  input.items = {std::move(entry)};
}

/// What stands behind "Mcp-Param-": a token of HTTP.
std::string parse_header(const YamlValue& value) {
  auto name = value.line(64);
  const auto is_of_a_token = [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 ||
                        std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos);
  };
  if (!std::all_of(name.begin(), name.end(), is_of_a_token))
    value.fail(fmt::format("\"{}\" is no part of a header's name: letters, digits and - are expected, such as Region.",
                           printable(name)));
  return name;
}

/// What clients are told of an input beside what it is.
void parse_hints(const YamlMap& map, InputDefinition& input) {
  if (auto v = find_for(map, "values_from", input.type == InputType::kString, "String")) {
    if (!input.one_of.empty()) v->fail("the values are those of one_of; remove one of the two.");
    input.values_from = parse_replica_values(*v);
  }
  const bool simple =
      input.type == InputType::kString || input.type == InputType::kInteger || input.type == InputType::kBoolean;
  const auto header = find_for(map, "header", simple, "String, Integer or Boolean");
  if (!header) return;
  if (!input.aliases.empty()) header->fail("clients repeat an input by its name; remove the header or the aliases.");
  input.header = parse_header(*header);
}

InputDefinition parse_input(const YamlValue& value) {
  const YamlMap map(
      value, {"name", "type", "description", "required", "default", "aliases", "minimum", "maximum", "min_length",
              "max_length", "one_of", "uploads", "instead_of", "nullable", "items", "values_from", "header"});
  InputDefinition input;
  input.name = parse_name(map.at("name"), "an input");
  input.type = parse_type(map.at("type"));
  input.description = map.at("description").line(1000);
  if (auto v = map.find("required")) input.required = v->boolean();
  if (auto v = map.find("aliases")) {
    for (const auto& alias : v->list(8)) input.aliases.push_back(parse_name(alias, "an alias"));
  }
  parse_bounds(map, input);
  parse_items(map, input);
  parse_hints(map, input);
  if (auto v = map.find("instead_of")) input.instead_of = v->lines(16);
  if (auto v = map.find("nullable")) {
    input.nullable = v->boolean();
    if (input.nullable && input.uploads) v->fail("uploads are left out, not cleared: an empty list carries none.");
  }
  parse_default(map, input);
  return input;
}

/// Every name and alias once, and none that the host has taken.
void check_names(const YamlValue& value, const std::vector<InputDefinition>& inputs) {
  std::vector<std::string> taken = host_inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto names = inputs[i].aliases;
    names.insert(names.begin(), inputs[i].name);
    for (const auto& name : names) {
      const auto at = value.list()[i];
      if (std::count(host_inputs().begin(), host_inputs().end(), name) > 0)
        at.fail(fmt::format("the input \"{}\" is the host's own, every capability has it; choose another name.", name));
      if (std::count(taken.begin(), taken.end(), name) > 0)
        at.fail(fmt::format("the input \"{}\" stands here for the second time.", name));
      taken.push_back(name);
    }
  }
}

/// Names of headers are the same in any case.
void check_headers(const YamlValue& value, const std::vector<InputDefinition>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (!inputs[i].header.empty() && equal_ignoring_case(inputs[i].header, inputs[k].header))
        value.list()[i].fail(fmt::format("the header \"{}\" is that of another input too.", inputs[i].header));
    }
  }
}

/// What an input stands instead of are others, which need not be given.
void check_replaced(const YamlValue& value, const std::vector<InputDefinition>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (const auto& name : inputs[i].instead_of) {
      const auto is = [&](const InputDefinition& other) {
        return other.name == name && !other.required && &other != &inputs[i];
      };
      if (std::none_of(inputs.begin(), inputs.end(), is))
        value.list()[i].fail(
            fmt::format("\"{}\" of instead_of is no other input that may be left out.", printable(name)));
    }
  }
}

}  // namespace

std::vector<InputDefinition> parse_inputs(const YamlValue& value) {
  std::vector<InputDefinition> inputs;
  for (const auto& item : value.list(64)) inputs.push_back(parse_input(item));
  check_names(value, inputs);
  check_replaced(value, inputs);
  check_headers(value, inputs);
  return inputs;
}

std::shared_ptr<const JsonSchema> parse_input_schema(const YamlValue& value) {
  std::shared_ptr<const JsonSchema> schema;
  try {
    schema = std::make_shared<const JsonSchema>(value.json());
  } catch (const JsonSchema::Unfit& problem) {
    value.fail(fmt::format("{}.", problem.what()));
  }
  static const std::vector<std::string> accepted{
      "$defs", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentRequired"};
  for (const auto& member : schema->document().GetObject()) {
    const auto keyword = view(member.name);
    if (std::find(accepted.begin(), accepted.end(), keyword) == accepted.end())
      value.fail(
          fmt::format("\"{}\" cannot stand at the top, where the inputs say what they are; {} can. Put it into "
                      "an allOf.",
                      printable(keyword), fmt::join(accepted, ", ")));
  }
  return schema;
}

}  // namespace krux
