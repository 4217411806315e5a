#include "core/definition/json_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/definition/json_schema_node.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr std::size_t kLongestValueShown = 60;
constexpr std::size_t kLongestReason = 400;

bool is_whole(const JsonValue& value) {
  return value.IsInt64() || value.IsUint64() ||
         (value.IsDouble() && std::trunc(value.GetDouble()) == value.GetDouble());
}

bool is_of(const JsonValue& value, std::string_view type) {
  if (type == "string") return value.IsString();
  if (type == "integer") return value.IsNumber() && is_whole(value);
  if (type == "number") return value.IsNumber();
  if (type == "boolean") return value.IsBool();
  if (type == "object") return value.IsObject();
  if (type == "array") return value.IsArray();
  return value.IsNull();
}

std::string as_shown(const JsonValue& of_schema) {
  return printable(to_json(of_schema).substr(0, kLongestValueShown));
}

/// Of what is given, which may be large and is looked at often.
std::string as_given(const JsonValue& value) {
  if (value.IsObject()) return "an object";
  if (value.IsArray()) return "a list";
  return value.IsString() ? json_string(printable(view(value).substr(0, kLongestValueShown))) : as_shown(value);
}

std::string within(const std::string& path, const std::string& name) {
  return path.empty() ? name : fmt::format("{}.{}", path, name);
}

std::string named(const std::string& path) {
  return path.empty() ? "what is given" : "\"" + path + "\"";
}

}  // namespace

/// A reason begins with the place of what does not fit.
class JsonSchemaCheck {
 public:
  using Node = JsonSchema::Node;

  std::string why_not(const Node& node, const JsonValue& value,  // NOLINT(misc-no-recursion)
                      const std::string& path) const {
    if (node.never) return named(path) + " must not be there";
    if (node.ref) {
      if (auto why = why_not(*node.ref, value, path); !why.empty()) return why;
    }
    for (const auto check : {&JsonSchemaCheck::by_kind, &JsonSchemaCheck::by_size, &JsonSchemaCheck::by_members,
                             &JsonSchemaCheck::by_parts, &JsonSchemaCheck::by_condition}) {
      if (auto why = (this->*check)(node, value, path); !why.empty()) return why;
    }
    return {};
  }

 private:
  std::string by_kind(const Node& node, const JsonValue& value, const std::string& path) const {
    const auto is = [&](const std::string& type) { return is_of(value, type); };
    if (!node.types.empty() && std::none_of(node.types.begin(), node.types.end(), is))
      return fmt::format("{} must be of type {}, not {}", named(path), fmt::join(node.types, " or "), as_given(value));
    if (node.constant && *node.constant != value)
      return fmt::format("{} must be {}, not {}", named(path), as_shown(*node.constant), as_given(value));
    if (node.values && std::find(node.values->Begin(), node.values->End(), value) == node.values->End())
      return fmt::format("{} must be one of {}, not {}", named(path), as_shown(*node.values), as_given(value));
    return {};
  }

  std::string by_size(const Node& node, const JsonValue& value, const std::string& path) const {
    if (value.IsNumber()) {
      const auto number = value.GetDouble();
      if ((node.minimum && number < *node.minimum) || (node.above && number <= *node.above))
        return fmt::format("{} is too small: {}", named(path), as_given(value));
      if ((node.maximum && number > *node.maximum) || (node.below && number >= *node.below))
        return fmt::format("{} is too large: {}", named(path), as_given(value));
    }
    if (value.IsString())
      return by_count(node.min_length, node.max_length, code_points(view(value)), "characters", path);
    if (value.IsArray()) return by_count(node.min_items, node.max_items, value.Size(), "entries", path);
    return {};
  }

  static std::string by_count(const std::optional<std::size_t>& least, const std::optional<std::size_t>& most,
                              std::size_t count, const char* unit, const std::string& path) {
    if (least && count < *least)
      return fmt::format("{} has {} {}, at least {} are needed", named(path), count, unit, *least);
    if (most && count > *most)
      return fmt::format("{} has {} {}, at most {} are accepted", named(path), count, unit, *most);
    return {};
  }

  std::string by_members(const Node& node, const JsonValue& value,  // NOLINT(misc-no-recursion)
                         const std::string& path) const {
    if (value.IsArray() && node.items) {
      for (rapidjson::SizeType i = 0; i < value.Size(); ++i) {
        auto why = why_not(*node.items, value[i], fmt::format("{}[{}]", path, i));
        if (!why.empty()) return why;
      }
    }
    if (!value.IsObject()) return {};
    if (auto why = by_required(node.required, value, path); !why.empty()) return why;
    for (const auto& [name, others] : node.required_beside) {
      if (!find_member(value, name)) continue;
      if (auto why = by_required(others, value, path); !why.empty()) return why;
    }
    for (const auto& member : value.GetObject()) {
      const auto name = view(member.name);
      const auto at = std::find_if(node.properties.begin(), node.properties.end(),
                                   [&](const auto& property) { return property.first == name; });
      const auto* fits = at != node.properties.end() ? at->second : node.additional;
      if (!fits) continue;
      const auto below = printable(name.substr(0, kLongestValueShown));
      if (auto why = why_not(*fits, member.value, within(path, below)); !why.empty()) return why;
    }
    return {};
  }

  static std::string by_required(const std::vector<std::string>& names, const JsonValue& value,
                                 const std::string& path) {
    for (const auto& name : names) {
      if (!find_member(value, name)) return named(within(path, name)) + " is missing";
    }
    return {};
  }

  std::string by_parts(const Node& node, const JsonValue& value,  // NOLINT(misc-no-recursion)
                       const std::string& path) const {
    for (const auto* one : node.all_of) {
      if (auto why = why_not(*one, value, path); !why.empty()) return why;
    }
    std::string reasons;
    if (!node.any_of.empty() && how_many(node.any_of, value, path, reasons) == 0)
      return fmt::format("one of these must be otherwise: {}", reasons);
    if (!node.one_of.empty()) {
      const auto fitting = how_many(node.one_of, value, path, reasons);
      if (fitting == 0) return fmt::format("one of these must be otherwise: {}", reasons);
      if (fitting > 1)
        return fmt::format("{} fits {} of the forms that exclude each other; it must be one", named(path), fitting);
    }
    if (node.unwanted && why_not(*node.unwanted, value, path).empty())
      return fmt::format("{} is what it must not be", named(path));
    return {};
  }

  std::size_t how_many(const Node::List& nodes, const JsonValue& value,  // NOLINT(misc-no-recursion)
                       const std::string& path, std::string& reasons) const {
    std::size_t fitting = 0;
    for (const auto* one : nodes) {
      const auto why = why_not(*one, value, path);
      if (why.empty()) ++fitting;
      if (!why.empty() && reasons.size() < kLongestReason) reasons += (reasons.empty() ? "" : "; or ") + why;
    }
    return fitting;
  }

  std::string by_condition(const Node& node, const JsonValue& value,  // NOLINT(misc-no-recursion)
                           const std::string& path) const {
    if (!node.when) return {};
    const auto* goes_on = why_not(*node.when, value, path).empty() ? node.then : node.otherwise;
    return goes_on ? why_not(*goes_on, value, path) : std::string();
  }
};

JsonSchema::JsonSchema(const std::string& json) {
  try {
    document_ = parse_json(json, "the schema");
  } catch (const Error& problem) {
    throw Unfit(problem.what());
  }
  JsonSchemaReader(*this).read();
}

JsonSchema::~JsonSchema() = default;

std::string JsonSchema::why_not(const JsonValue& value) const {
  return JsonSchemaCheck().why_not(nodes_.front(), value, {});
}

}  // namespace krux
