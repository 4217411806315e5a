// Applied here and not by RapidJSON: its schemas call themselves without end for {"$ref": "#"}, unroll what a pattern
// counts, and read values of other types as objects. The schema is the word of an adapter's author, perhaps a stranger.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"
#include "host/plugins/config_schema.hpp"

namespace krux {
namespace {

constexpr JsonLimits kConfigLimits{256 * 1024, 32};

/// The names from the topmost setting to the one that is looked at.
using Path = std::vector<std::string>;

std::string joined(const std::vector<std::string>& names, const char* between = ", ") {
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : between) + name;
  return all;
}

std::vector<std::string> members_of(const JsonValue* object) {
  std::vector<std::string> names;
  if (!object || !object->IsObject()) return names;
  for (const auto& member : object->GetObject()) names.push_back(printable(view(member.name)));
  return names;
}

bool is_of_type(const JsonValue& value, std::string_view type) {
  if (type == "null") return value.IsNull();
  if (type == "boolean") return value.IsBool();
  if (type == "integer") return value.IsInt64() || value.IsUint64();
  if (type == "number") return value.IsNumber();
  if (type == "string") return value.IsString();
  if (type == "array") return value.IsArray();
  return type == "object" && value.IsObject();
}

bool fits_type(const JsonValue& value, const JsonValue* type) {
  if (!type) return true;
  if (type->IsString()) return is_of_type(value, view(*type));
  return type->IsArray() && std::any_of(type->Begin(), type->End(), [&](const JsonValue& one) {
           return one.IsString() && is_of_type(value, view(one));
         });
}

/// Negative, 0 or positive as `a` is below, equal to or above `b`; whole numbers exactly.
int compare(const JsonValue& a, const JsonValue& b) {
  const auto order = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : 0; };
  if (a.IsInt64() && b.IsInt64()) return order(a.GetInt64(), b.GetInt64());
  if (a.IsUint64() && b.IsUint64()) return order(a.GetUint64(), b.GetUint64());
  return order(a.GetDouble(), b.GetDouble());
}

bool same(const JsonValue& a, const JsonValue& b) {
  if (a.IsNumber() && b.IsNumber()) return compare(a, b) == 0;
  if (a.IsString() && b.IsString()) return view(a) == view(b);
  return a.GetType() == b.GetType() && !a.IsNumber() && !a.IsString() && !a.IsArray() && !a.IsObject();
}

bool fits_enum(const JsonValue& value, const JsonValue* values) {
  if (!values || !values->IsArray()) return true;
  return std::any_of(values->Begin(), values->End(), [&](const JsonValue& one) { return same(value, one); });
}

bool fits_number(const JsonValue& value, const JsonValue& schema) {
  if (!value.IsNumber()) return true;
  const auto* least = find_member(schema, "minimum");
  const auto* most = find_member(schema, "maximum");
  if (least && least->IsNumber()) {
    const auto order = compare(value, *least);
    if (order < 0 || (order == 0 && find_bool(schema, "exclusiveMinimum").value_or(false))) return false;
  }
  if (most && most->IsNumber()) {
    const auto order = compare(value, *most);
    if (order > 0 || (order == 0 && find_bool(schema, "exclusiveMaximum").value_or(false))) return false;
  }
  return true;
}

std::int64_t characters_of(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

bool fits_size(std::int64_t size, const JsonValue& schema, const char* least, const char* most) {
  const auto from = find_int(schema, least);
  const auto to = find_int(schema, most);
  return (!from || size >= *from) && (!to || size <= *to);
}

bool fits_alone(const JsonValue& value, const JsonValue& schema) {
  return fits_type(value, find_member(schema, "type")) && fits_enum(value, find_member(schema, "enum")) &&
         fits_number(value, schema) &&
         (!value.IsString() || fits_size(characters_of(view(value)), schema, "minLength", "maxLength")) &&
         (!value.IsArray() || fits_size(value.Size(), schema, "minItems", "maxItems"));
}

/// What a value must be, in words; empty where the schema says it in a way that has none here.
std::string expected(const JsonValue& schema) {
  const auto member = [&](const char* name) { return find_member(schema, name); };
  if (const auto* values = member("enum"); values && values->IsArray()) {
    std::vector<std::string> all;
    for (const auto& value : values->GetArray()) all.push_back(printable(to_json(value)));
    return "one of " + joined(all);
  }
  const auto name = find_string(schema, "type").value_or("");
  static constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"integer", "a whole number"}, {"number", "a number"}, {"boolean", "true or false"},
      {"string", "a text"},          {"array", "a list"},    {"object", "a section with settings of its own"}};
  std::string out;
  for (const auto& [known, word] : words) {
    if (known == name) out = word;
  }
  const auto range = [&out](const JsonValue* least, const JsonValue* most, const std::string& what) {
    if (least && most) out += " from " + to_json(*least) + " to " + to_json(*most) + what;
    if (least && !most) out += ", " + to_json(*least) + what + " or more";
    if (most && !least) out += ", " + to_json(*most) + what + " or less";
  };
  if (out.empty() && (member("minimum") || member("maximum"))) out = "a number";
  range(member("minimum"), member("maximum"), "");
  if (name == "string") range(member("minLength"), member("maxLength"), " characters");
  if (name == "array") range(member("minItems"), member("maxItems"), " entries");
  return out;
}

ConfigProblem problem_of(const Path& at, std::string sentence) {
  return {at.empty() ? std::string() : at.front(), std::move(sentence)};
}

ConfigProblem misfit(const JsonValue& value, const JsonValue& schema, const Path& at) {
  auto given = to_json(value);
  if (given.size() > 100) given = "this value";
  const auto wanted = expected(schema);
  const auto place = at.size() > 1 ? joined(at, ".") + ": " : std::string();
  return problem_of(
      at, place + (wanted.empty() ? printable(given) + " is not as the adapter takes it; its documentation says how."
                                  : printable(given) + " does not fit: it must be " + wanted + "."));
}

std::optional<ConfigProblem> find_problem(const JsonValue& value, const JsonValue& schema, Path& at);

std::optional<ConfigProblem> find_below(const JsonValue& value, const JsonValue& schema, Path& at,
                                        std::string_view name) {
  at.push_back(printable(name));
  auto found = find_problem(value, schema, at);
  at.pop_back();
  return found;
}

std::optional<ConfigProblem> find_in_object(const JsonValue& object, const JsonValue& schema, Path& at) {
  const auto* properties = find_member(schema, "properties");
  const auto* others = find_member(schema, "additionalProperties");
  for (const auto& [name, value] : object.GetObject()) {
    const auto* rules = properties ? find_member(*properties, view(name)) : nullptr;
    if (!rules && others && others->IsBool() && !others->GetBool()) {
      const auto known = members_of(properties);
      const auto shown = printable(view(name));
      at.push_back(shown);
      auto found = problem_of(at, fmt::format("the adapter has no setting \"{}\"{}. Its settings are: {}.", shown,
                                              did_you_mean(shown, known), known.empty() ? "none" : joined(known)));
      at.pop_back();
      return found;
    }
    if (!rules && others && others->IsObject()) rules = others;
    if (!rules || !rules->IsObject()) continue;
    if (auto found = find_below(value, *rules, at, view(name))) return found;
  }
  const auto* required = find_member(schema, "required");
  if (!required || !required->IsArray()) return std::nullopt;
  for (const auto& name : required->GetArray()) {
    if (name.IsString() && !find_member(object, view(name))) {
      return problem_of(at, fmt::format("the adapter needs the setting \"{}\".", printable(view(name))));
    }
  }
  return std::nullopt;
}

/// As deep as the value and the schema are, which their parsing bounds.
std::optional<ConfigProblem> find_problem(const JsonValue& value, const JsonValue& schema, Path& at) {
  if (!fits_alone(value, schema)) return misfit(value, schema, at);
  if (value.IsObject()) return find_in_object(value, schema, at);
  const auto* items = find_member(schema, "items");
  if (!value.IsArray() || !items || !items->IsObject()) return std::nullopt;
  for (rapidjson::SizeType i = 0; i < value.Size(); ++i) {
    if (auto found = find_below(value[i], *items, at, std::to_string(i))) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ConfigProblem> find_config_problem(std::string_view schema_json, std::string_view config_json) {
  try {
    const auto config = parse_json(config_json, "the adapter's configuration", kConfigLimits);
    if (!config.IsObject()) return ConfigProblem{"", "The adapter's configuration is not a JSON object."};
    if (schema_json.empty()) {
      if (config.MemberCount() == 0) return std::nullopt;
      return ConfigProblem{"", "This adapter takes no configuration; remove its `adapter` section."};
    }
    const auto schema = parse_json(schema_json, "config_schema", kConfigLimits);
    Path at;
    return find_problem(config, schema, at);
  } catch (const Error& e) {
    return ConfigProblem{"", e.what()};
  }
}

std::string config_problem(std::string_view schema_json, std::string_view config_json) {
  const auto problem = find_config_problem(schema_json, config_json);
  if (!problem) return {};
  return problem->key.empty() ? problem->sentence : "adapter." + problem->key + ": " + problem->sentence;
}

}  // namespace krux
