#include "host/plugins/config_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr JsonLimits kSchemaLimits{64 * 1024, 32};
constexpr int kMostLevels = 8;
constexpr std::size_t kMostParts = 1000;  ///< schemas within the schema
constexpr rapidjson::SizeType kMostValues = 256;

bool is_known_type(const JsonValue& value) {
  static constexpr std::array<std::string_view, 7> known = {"array",  "boolean", "integer", "null",
                                                            "number", "object",  "string"};
  return value.IsString() && std::find(known.begin(), known.end(), view(value)) != known.end();
}

template <class Check>
bool is_list_of(const JsonValue& value, Check check) {
  return value.IsArray() && value.Size() <= kMostValues && std::all_of(value.Begin(), value.End(), check);
}

bool is_type(const JsonValue& value) {
  return is_known_type(value) || (is_list_of(value, is_known_type) && !value.Empty());
}

bool is_enum(const JsonValue& value) {
  return is_list_of(value, [](const JsonValue& one) { return !one.IsArray() && !one.IsObject(); }) && !value.Empty();
}

bool is_names(const JsonValue& value) {
  return is_list_of(value, [](const JsonValue& one) { return one.IsString(); });
}

bool is_number(const JsonValue& value) {
  return value.IsNumber();
}
bool is_count(const JsonValue& value) {
  return value.IsUint();
}
bool is_bool(const JsonValue& value) {
  return value.IsBool();
}
bool is_object(const JsonValue& value) {
  return value.IsObject();
}
bool is_object_or_bool(const JsonValue& value) {
  return value.IsObject() || value.IsBool();
}

/// The rules that find_config_problem() applies, and the form that each must have.
struct Rule {
  std::string_view keyword;
  bool (*fits)(const JsonValue&);
  std::string_view form;
};
constexpr Rule kRules[] = {
    {"type", is_type, "array, boolean, integer, null, number, object or string, or a list of these"},
    {"enum", is_enum, "a list of 1 to 256 texts, numbers, true, false or null"},
    {"properties", is_object, "an object of schemas"},
    {"required", is_names, "a list of at most 256 names"},
    {"additionalProperties", is_object_or_bool, "true, false or one schema"},
    {"items", is_object, "one schema"},
    {"minItems", is_count, "a whole number, 0 or more"},
    {"maxItems", is_count, "a whole number, 0 or more"},
    {"minLength", is_count, "a whole number, 0 or more"},
    {"maxLength", is_count, "a whole number, 0 or more"},
    {"minimum", is_number, "a number"},
    {"maximum", is_number, "a number"},
    {"exclusiveMinimum", is_bool, "true or false"},
    {"exclusiveMaximum", is_bool, "true or false"},
};

/// What else restricts a configuration, in draft 4 or a later one. To pass over one would let through what its author
/// rules out; to apply one would cost the host what an adapter's author likes, which is why they are not among the
/// rules.
constexpr std::string_view kRefused[] = {
    "$ref", "pattern", "patternProperties", "allOf", "anyOf", "oneOf", "not", "dependencies", "minProperties",
    "uniqueItems", "maxProperties", "additionalItems", "multipleOf",
    // Of drafts 6 to 2020-12.
    "const", "contains", "minContains", "maxContains", "propertyNames", "if", "then", "else", "dependentRequired",
    "dependentSchemas", "prefixItems", "unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"};

std::string rules_listed() {
  std::string all;
  for (const auto& rule : kRules) all += (all.empty() ? "" : ", ") + std::string(rule.keyword);
  return all;
}

class SchemaCheck {
 public:
  /// The first thing that is unfit in `schema`, which stands at `place`; empty: nothing is.
  std::string problem(const JsonValue& schema, const std::string& place, int level) {
    if (level > kMostLevels)
      return fmt::format("{} is nested too deeply: at most {} levels are taken.", place, kMostLevels);
    if (++parts_ > kMostParts)
      return fmt::format("It has too many parts at {}: at most {} are taken.", place, kMostParts);
    for (const auto& [name, value] : schema.GetObject()) {
      if (auto found = keyword_problem(view(name), value, place); !found.empty()) return found;
    }
    return problem_below(schema, place, level + 1);
  }

 private:
  static std::string keyword_problem(std::string_view keyword, const JsonValue& value, const std::string& place) {
    if (std::find(std::begin(kRefused), std::end(kRefused), keyword) != std::end(kRefused)) {
      return fmt::format("{} uses \"{}\", which the host does not take. The rules that it takes are: {}.", place,
                         keyword, rules_listed());
    }
    for (const auto& rule : kRules) {
      if (rule.keyword == keyword && !rule.fits(value))
        return fmt::format("{}.{} must be {}.", place, keyword, rule.form);
    }
    return {};
  }

  std::string problem_below(const JsonValue& schema, const std::string& place, int level) {
    for (const auto keyword : {"items", "additionalProperties"}) {
      const auto* below = find_member(schema, keyword);
      if (!below || !below->IsObject()) continue;
      if (auto found = problem(*below, place + "." + keyword, level); !found.empty()) return found;
    }
    const auto* properties = find_member(schema, "properties");
    if (!properties) return {};
    for (const auto& [name, below] : properties->GetObject()) {
      const auto where = place + ".properties." + printable(view(name).substr(0, 64));
      if (!below.IsObject()) return where + " must be a schema, which is an object.";
      if (auto found = problem(below, where, level); !found.empty()) return found;
    }
    return {};
  }

  std::size_t parts_ = 0;
};

}  // namespace

std::string schema_problem(std::string_view schema_json) {
  if (schema_json.empty()) return {};
  try {
    const auto schema = parse_json(schema_json, "config_schema", kSchemaLimits);
    if (!schema.IsObject()) return "Its config_schema is not a JSON object.";
    const auto found = SchemaCheck().problem(schema, "config_schema", 1);
    return found.empty() ? found : "Its config_schema is unfit: " + found;
  } catch (const Error& e) {
    return fmt::format("Its config_schema cannot be read: {}", e.what());
  }
}

}  // namespace krux
