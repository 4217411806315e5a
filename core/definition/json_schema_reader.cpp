#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/definition/json_schema_node.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

using Unfit = JsonSchema::Unfit;
constexpr std::size_t kLargestSchema = 1'000;  ///< schemas, each counted as often as it is named
constexpr int kDeepestSchema = 16;
constexpr std::size_t kInProgress = 0;
constexpr std::array<std::string_view, 7> kTypes{"string", "integer", "number", "boolean", "object", "array", "null"};
constexpr std::array<std::string_view, 4> kSaysNothing{"title", "description", "$comment", "$schema"};

std::string text_of(std::string_view keyword, const JsonValue& value) {
  if (!value.IsString()) throw Unfit(fmt::format("\"{}\" is a text", keyword));
  return std::string(view(value));
}

std::vector<std::string> texts_of(std::string_view keyword, const JsonValue& value) {
  if (!value.IsArray()) throw Unfit(fmt::format("\"{}\" is a list of texts", keyword));
  std::vector<std::string> texts;
  for (const auto& item : value.GetArray()) texts.push_back(text_of(keyword, item));
  return texts;
}

std::vector<std::string> types_of(const JsonValue& value) {
  auto types = value.IsString() ? std::vector<std::string>{std::string(view(value))} : texts_of("type", value);
  for (const auto& type : types) {
    if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end())
      throw Unfit(fmt::format("there is no type \"{}\"", printable(type)));
  }
  return types;
}

void must_be_object(std::string_view keyword, const JsonValue& value) {
  if (!value.IsObject()) throw Unfit(fmt::format("\"{}\" is an object", keyword));
}

}  // namespace

JsonSchema::Node::List JsonSchema::Node::below_it() const {
  List all;
  for (const auto* list : {&all_of, &any_of, &one_of}) all.insert(all.end(), list->begin(), list->end());
  for (const auto& [name, node] : properties) all.push_back(node);
  for (const auto* node : {additional, items, unwanted, ref, when, then, otherwise}) {
    if (node) all.push_back(node);
  }
  return all;
}

void JsonSchemaReader::read() {
  if (!schema_.document_.IsObject()) throw Unfit("a schema is an object");
  node(schema_.document_, 0);
  resolve();
  std::vector<std::pair<const Node*, std::size_t>> known;
  for (const auto& [name, one] : named_) whole_size(one, known);
  whole_size(&schema_.nodes_.front(), known);
}

const JsonSchema::Node* JsonSchemaReader::node(const JsonValue& value, int depth) {  // NOLINT(misc-no-recursion)
  if (depth > kDeepestSchema) throw Unfit(fmt::format("schemas stand in schemas at most {} deep", kDeepestSchema));
  if (schema_.nodes_.size() >= kLargestSchema)
    throw Unfit(fmt::format("a schema has at most {} others", kLargestSchema));
  auto& made = schema_.nodes_.emplace_back();
  if (value.IsBool()) {
    made.never = !value.GetBool();
    return &made;
  }
  if (!value.IsObject()) throw Unfit("a schema is an object, or true or false");
  for (const auto& member : value.GetObject()) take(made, view(member.name), member.value, depth);
  if ((made.then || made.otherwise) && !made.when) throw Unfit("\"then\" and \"else\" stand beside an \"if\"");
  return &made;
}

void JsonSchemaReader::take(Node& into, std::string_view keyword, const JsonValue& value,  // NOLINT(misc-no-recursion)
                            int depth) {
  if (take_part(into, keyword, value, depth) || take_bound(into, keyword, value) || take_names(into, keyword, value))
    return;
  if (std::find(kSaysNothing.begin(), kSaysNothing.end(), keyword) != kSaysNothing.end()) return;
  if (keyword == "$defs") {
    if (depth > 0) throw Unfit("\"$defs\" stand at the top");
    must_be_object(keyword, value);
    for (const auto& member : value.GetObject())
      name(fmt::format("#/$defs/{}", view(member.name)), node(member.value, depth + 1));
    return;
  }
  throw Unfit(
      fmt::format("the host does not check \"{}\": it takes $defs, $anchor, $ref, type, properties, required, "
                  "dependentRequired, additionalProperties, items, allOf, anyOf, oneOf, not, if, then, else, "
                  "enum, const, minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength, "
                  "minItems and maxItems",
                  printable(keyword.substr(0, 60))));
}

/// The keywords that hold schemas.
bool JsonSchemaReader::take_part(Node& into, std::string_view keyword,  // NOLINT(misc-no-recursion)
                                 const JsonValue& value, int depth) {
  const std::pair<std::string_view, Node::List Node::*> lists[] = {
      {"allOf", &Node::all_of}, {"anyOf", &Node::any_of}, {"oneOf", &Node::one_of}};
  for (const auto& [name, list] : lists) {
    if (keyword != name) continue;
    into.*list = nodes(keyword, value, depth);
    return true;
  }
  const std::pair<std::string_view, const Node * Node::*> single[] = {{"additionalProperties", &Node::additional},
                                                                      {"items", &Node::items},
                                                                      {"not", &Node::unwanted},
                                                                      {"if", &Node::when},
                                                                      {"then", &Node::then},
                                                                      {"else", &Node::otherwise}};
  for (const auto& [name, one] : single) {
    if (keyword != name) continue;
    into.*one = node(value, depth + 1);
    return true;
  }
  if (keyword != "properties") return false;
  must_be_object(keyword, value);
  for (const auto& member : value.GetObject())
    into.properties.emplace_back(view(member.name), node(member.value, depth + 1));
  return true;
}

bool JsonSchemaReader::take_bound(Node& into, std::string_view keyword, const JsonValue& value) {
  const std::pair<std::string_view, std::optional<double> Node::*> numbers[] = {{"minimum", &Node::minimum},
                                                                                {"maximum", &Node::maximum},
                                                                                {"exclusiveMinimum", &Node::above},
                                                                                {"exclusiveMaximum", &Node::below}};
  for (const auto& [name, bound] : numbers) {
    if (keyword != name) continue;
    if (!value.IsNumber()) throw Unfit(fmt::format("\"{}\" is a number", keyword));
    into.*bound = value.GetDouble();
    return true;
  }
  const std::pair<std::string_view, std::optional<std::size_t> Node::*> counts[] = {{"minLength", &Node::min_length},
                                                                                    {"maxLength", &Node::max_length},
                                                                                    {"minItems", &Node::min_items},
                                                                                    {"maxItems", &Node::max_items}};
  for (const auto& [name, bound] : counts) {
    if (keyword != name) continue;
    if (!value.IsUint()) throw Unfit(fmt::format("\"{}\" is a whole number, 0 or more", keyword));
    into.*bound = value.GetUint();
    return true;
  }
  return false;
}

bool JsonSchemaReader::take_names(Node& into, std::string_view keyword, const JsonValue& value) {
  if (keyword == "type") {
    into.types = types_of(value);
  } else if (keyword == "required") {
    into.required = texts_of(keyword, value);
  } else if (keyword == "dependentRequired") {
    must_be_object(keyword, value);
    for (const auto& member : value.GetObject())
      into.required_beside.emplace_back(view(member.name), texts_of(keyword, member.value));
  } else if (keyword == "enum") {
    if (!value.IsArray() || value.Empty()) throw Unfit("\"enum\" is a list of values");
    into.values = &value;
  } else if (keyword == "const") {
    into.constant = &value;
  } else if (keyword == "$ref") {
    refs_.emplace_back(&into, text_of(keyword, value));
  } else if (keyword == "$anchor") {
    name("#" + text_of(keyword, value), &into);
  } else {
    return false;
  }
  return true;
}

JsonSchema::Node::List JsonSchemaReader::nodes(std::string_view keyword,  // NOLINT(misc-no-recursion)
                                               const JsonValue& value, int depth) {
  if (!value.IsArray() || value.Empty()) throw Unfit(fmt::format("\"{}\" is a list of schemas", keyword));
  Node::List all;
  for (const auto& item : value.GetArray()) all.push_back(node(item, depth + 1));
  return all;
}

void JsonSchemaReader::name(std::string anchor, const Node* node) {
  for (const auto& [taken, other] : named_) {
    if (taken == anchor) throw Unfit(fmt::format("\"{}\" stands here twice", printable(anchor)));
  }
  named_.emplace_back(std::move(anchor), node);
}

void JsonSchemaReader::resolve() {
  for (const auto& ref : refs_) {
    const auto at =
        std::find_if(named_.begin(), named_.end(), [&](const auto& named) { return named.first == ref.second; });
    if (at == named_.end())
      throw Unfit(fmt::format("\"{}\" names nothing here: a $ref is \"#/$defs/NAME\", or # and an $anchor",
                              printable(std::string_view(ref.second).substr(0, 60))));
    ref.first->ref = at->second;
  }
}

/// With all that a check of it may go through.
std::size_t JsonSchemaReader::whole_size(const Node* node,  // NOLINT(misc-no-recursion)
                                         std::vector<std::pair<const Node*, std::size_t>>& known) const {
  for (const auto& [seen, size] : known) {
    if (seen != node) continue;
    if (size == kInProgress) throw Unfit("a $ref leads back to itself, which the host does not check");
    return size;
  }
  const auto place = known.size();
  known.emplace_back(node, kInProgress);
  std::size_t size = 1;
  for (const auto* one : node->below_it()) size += whole_size(one, known);
  if (size > kLargestSchema)
    throw Unfit(fmt::format("with what its $refs name it has more than {} schemas: make it smaller", kLargestSchema));
  known[place].second = size;
  return size;
}

}  // namespace krux
