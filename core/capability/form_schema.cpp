#include "core/capability/form_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "core/definition/input_check.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr rapidjson::SizeType kMostFields = 50, kMostChoices = 200;
constexpr std::int64_t kLongestFilledIn = 64 * 1024;

/// One property, read.
struct FormField {
  InputDefinition value;
  bool is_number = false;  ///< where InputType has no name for it
  double minimum = 0, maximum = 0;
  bool has_minimum = false, has_maximum = false;
  std::string format;
};

[[noreturn]] void refuse_field(std::string_view field, const std::string& why) {
  throw invalid_input(fmt::format("The form's \"{}\" {}.", printable(field.substr(0, 64)), why));
}

void allow_only(std::string_view field, const JsonValue& object, std::initializer_list<std::string_view> known) {
  for (const auto& member : object.GetObject()) {
    const auto name = view(member.name);
    const bool is_shown = name == "title" || name == "description";
    if (is_shown && !member.value.IsString()) refuse_field(field, fmt::format("has a \"{}\" that is no text", name));
    if (is_shown || name == "default") continue;
    if (std::find(known.begin(), known.end(), name) == known.end())
      refuse_field(field, fmt::format("has \"{}\", which is no part of a form", printable(name.substr(0, 64))));
  }
}

std::optional<std::size_t> length(std::string_view field, const JsonValue& object, const char* name) {
  if (!find_member(object, name)) return std::nullopt;
  const auto value = find_int(object, name);
  if (!value || *value < 0 || *value > kLongestFilledIn)
    refuse_field(field, fmt::format("has a \"{}\" that is no length", name));
  return static_cast<std::size_t>(*value);
}

/// Of "enum", or of {const, title}.
std::vector<std::string> choices(std::string_view field, const JsonValue& list, bool titled) {
  std::vector<std::string> all;
  if (!list.IsArray() || list.Empty() || list.Size() > kMostChoices) refuse_field(field, "needs a list of choices");
  for (const auto& one : list.GetArray()) {
    const auto text = titled           ? find_string(one, "const")
                      : one.IsString() ? std::optional<std::string_view>(view(one))
                                       : std::nullopt;
    if (!text || (titled && !find_string(one, "title"))) refuse_field(field, "has a choice that is none");
    all.emplace_back(*text);
  }
  return all;
}

void read_text(FormField& field, std::string_view name, const JsonValue& object) {
  allow_only(name, object, {"type", "enum", "enumNames", "oneOf", "minLength", "maxLength", "format"});
  field.value.type = InputType::kString;
  field.value.min_length = length(name, object, "minLength");
  field.value.max_length = length(name, object, "maxLength");
  if (!field.value.max_length) field.value.max_length = kLongestFilledIn;
  if (const auto* list = find_member(object, "enum")) field.value.one_of = choices(name, *list, false);
  if (const auto* list = find_member(object, "oneOf")) field.value.one_of = choices(name, *list, true);
  const auto* names = find_member(object, "enumNames");
  const auto is_text = [](const JsonValue& one) { return one.IsString(); };
  if (names && (!names->IsArray() || names->Size() != field.value.one_of.size() ||
                !std::all_of(names->Begin(), names->End(), is_text)))
    refuse_field(name, "has not one of \"enumNames\" for each choice");
  if (!find_member(object, "format")) return;
  field.format = find_string(object, "format").value_or("");
  for (const auto* known : {"email", "uri", "date", "date-time"}) {
    if (field.format == known) return;
  }
  refuse_field(name, "has a \"format\" other than email, uri, date, date-time");
}

void read_number(FormField& field, std::string_view name, const JsonValue& object, bool whole) {
  allow_only(name, object, {"type", "minimum", "maximum"});
  field.value.type = InputType::kInteger;
  field.is_number = !whole;
  const auto bound = [&](const char* which, bool& has, double& value) {
    const auto* given = find_member(object, which);
    if (!given) return;
    if (!given->IsNumber()) refuse_field(name, fmt::format("has a \"{}\" that is no number", which));
    has = true;
    value = given->GetDouble();
  };
  bound("minimum", field.has_minimum, field.minimum);
  bound("maximum", field.has_maximum, field.maximum);
}

void read_choices(FormField& field, std::string_view name, const JsonValue& object) {
  allow_only(name, object, {"type", "items", "minItems", "maxItems"});
  const auto* items = find_member(object, "items");
  if (!items || !items->IsObject()) refuse_field(name, "is a list without \"items\"");
  allow_only(name, *items, {"type", "enum", "anyOf"});
  const auto* titled = find_member(*items, "anyOf");
  const auto* plain = find_member(*items, "enum");
  if ((titled != nullptr) == (plain != nullptr)) refuse_field(name, "is a list without choices");
  InputDefinition entry;
  entry.one_of = choices(name, titled ? *titled : *plain, titled != nullptr);
  field.value.type = InputType::kArray;
  field.value.items = {entry};
  field.value.min_length = length(name, object, "minItems");
  field.value.max_length = length(name, object, "maxItems");
  if (!field.value.max_length) field.value.max_length = entry.one_of.size();
}

FormField read_field(std::string_view name, const JsonValue& object) {
  FormField field;
  field.value.name = name;
  const auto type = find_string(object, "type").value_or("");
  if (type == "string") {
    read_text(field, name, object);
  } else if (type == "integer" || type == "number") {
    read_number(field, name, object, type == "integer");
  } else if (type == "boolean") {
    allow_only(name, object, {"type"});
    field.value.type = InputType::kBoolean;
  } else if (type == "array") {
    read_choices(field, name, object);
  } else {
    refuse_field(name, "has a \"type\" other than string, integer, number, boolean, array");
  }
  return field;
}

bool fits_format(const std::string& format, std::string_view text) {
  if (format == "email") {
    const auto at = text.find('@');
    return at != std::string_view::npos && at > 0 && at + 1 < text.size() && text.find('@', at + 1) == text.npos &&
           text.find_first_of(" \t\r\n") == text.npos;
  }
  if (format == "uri") {
    const auto colon = text.find(':');
    return colon != std::string_view::npos && colon > 0 && text.find_first_of(" \t\r\n") == text.npos;
  }
  constexpr std::size_t day = 10;  // 2026-11-21
  if ((format == "date") != (text.size() == day)) return false;
  try {
    parse_time(text, "It");
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string why_not(const FormField& field, const JsonValue& value) {
  if (field.value.type == InputType::kInteger) {
    if (!value.IsNumber()) return field.is_number ? "must be a number" : "must be a whole number";
    const auto number = value.GetDouble();
    if (!field.is_number && number != std::trunc(number)) return "must be a whole number";
    if (field.has_minimum && number < field.minimum) return fmt::format("must be at least {}", field.minimum);
    if (field.has_maximum && number > field.maximum) return fmt::format("must be at most {}", field.maximum);
    return {};
  }
  if (auto why = why_not_value(field.value, value); !why.empty()) return why;
  if (!field.format.empty() && !fits_format(field.format, view(value))) return fmt::format("is no {}", field.format);
  return {};
}

bool is_required(const JsonValue& schema, std::string_view name) {
  const auto* list = find_member(schema, "required");
  if (!list) return false;
  const auto all = list->GetArray();
  return std::any_of(all.begin(), all.end(), [&](const JsonValue& one) { return view(one) == name; });
}

JsonValue cleaned(std::string_view text, JsonDocument& owner) {
  const auto clean = printable_lines(text);
  return {clean.c_str(), static_cast<rapidjson::SizeType>(clean.size()), owner.GetAllocator()};
}

void must_be_clean(std::string_view text) {
  if (printable_lines(text) != text)
    throw invalid_input(
        fmt::format("The form has \"{}\", with characters that people do not see.", printable(text.substr(0, 64))));
}

/// People read it: nothing of it may steer what shows it, or seem to be something else.
void clean(JsonValue& part, JsonDocument& owner) {  // NOLINT(misc-no-recursion)
  if (part.IsString()) return must_be_clean(view(part));
  if (part.IsArray()) {
    for (auto& one : part.GetArray()) clean(one, owner);
  }
  if (!part.IsObject()) return;
  for (auto& member : part.GetObject()) {
    const auto name = view(member.name);
    must_be_clean(name);
    const bool is_shown = name == "title" || name == "description";
    if (is_shown && member.value.IsString()) {
      member.value = cleaned(view(member.value), owner);
    } else if (name == "enumNames" && member.value.IsArray()) {
      for (auto& one : member.value.GetArray()) {
        if (one.IsString()) one = cleaned(view(one), owner);
      }
    } else {
      clean(member.value, owner);
    }
  }
}

void check_form(const JsonValue& schema) {
  const auto* properties = schema.IsObject() ? find_member(schema, "properties") : nullptr;
  if (find_string(schema, "type") != "object" || !properties || !properties->IsObject() || properties->ObjectEmpty() ||
      properties->MemberCount() > kMostFields)
    throw invalid_input(fmt::format("A form is a schema of type object with 1 to {} properties.", kMostFields));
  allow_only("schema", schema, {"type", "properties", "required", "$schema"});
  for (const auto& property : properties->GetObject()) {
    if (!property.value.IsObject()) refuse_field(view(property.name), "is no schema");
    const auto field = read_field(view(property.name), property.value);
    const auto* standard = find_member(property.value, "default");
    if (standard) {
      if (const auto why = why_not(field, *standard); !why.empty())
        refuse_field(field.value.name, "has a default that " + why);
    }
  }
  const auto* required = find_member(schema, "required");
  if (!required) return;
  if (!required->IsArray()) throw invalid_input("The form's \"required\" must be a list of its properties.");
  for (const auto& name : required->GetArray()) {
    if (!name.IsString() || !find_member(*properties, view(name)))
      throw invalid_input("The form's \"required\" must be a list of its properties.");
  }
}

}  // namespace

std::string checked_form(const JsonValue& schema) {
  check_form(schema);
  JsonDocument form;
  form.CopyFrom(schema, form.GetAllocator());
  clean(form, form);
  return to_json(form);
}

std::string checked_content(const JsonValue& schema, const JsonValue& content) {
  if (!content.IsObject()) throw invalid_input("What was filled in must be an object, \"content\".");
  JsonDocument kept(rapidjson::kObjectType);
  for (const auto& property : find_member(schema, "properties")->GetObject()) {
    const auto name = view(property.name);
    const auto* value = find_member(content, name);
    if (!value) {
      if (is_required(schema, name)) throw invalid_input(fmt::format("\"{}\" is missing.", printable(name)));
      continue;
    }
    const auto why = why_not(read_field(name, property.value), *value);
    if (!why.empty()) throw invalid_input(fmt::format("\"{}\" {}.", printable(name), why));
    auto& allocator = kept.GetAllocator();
    kept.AddMember(JsonValue(property.name, allocator), JsonValue(*value, allocator), allocator);
  }
  return to_json(kept);
}

}  // namespace krux
