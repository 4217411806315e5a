#include "core/definition/input_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/definition/capability_parser.hpp"
#include "core/definition/json_schema.hpp"
#include "core/util/error.hpp"
#include "core/util/nearest.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it JSON numbers are no longer exact
constexpr std::size_t kMaxKeyLength = 200;
constexpr std::size_t kMaxKeys = 256;  // of any object among the arguments

std::string shown(const JsonValue& value) {
  switch (value.GetType()) {
    case rapidjson::kNullType:
      return "null";
    case rapidjson::kObjectType:
      return "an object";
    case rapidjson::kArrayType:
      return "a list";
    case rapidjson::kStringType: {
      const auto text = view(value);
      return "the text \"" + printable(text.substr(0, 60)) + (text.size() > 60 ? "...\"" : "\"");
    }
    default:
      return to_json(value);
  }
}

bool is_integer(const JsonValue& value) {
  if (value.IsInt64()) return true;
  // 20.0 is the whole number 20: some JSON writers know only fractions.
  return value.IsDouble() && std::trunc(value.GetDouble()) == value.GetDouble() &&
         std::fabs(value.GetDouble()) <= kExact;
}

bool is_service_timestamp(std::string_view text) {
  const auto dot = std::min(text.find('.'), text.size());
  const auto digits = [](std::string_view part, std::size_t most) {
    return !part.empty() && part.size() <= most && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return digits(text.substr(0, dot), 12) && (dot == text.size() || digits(text.substr(dot + 1), 6));
}

bool is_time(std::string_view text) {
  if (is_service_timestamp(text)) return true;
  try {
    parse_time(text, "it");
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool fits_type(InputType type, const JsonValue& value) {
  switch (type) {
    case InputType::kString:
      return value.IsString();
    case InputType::kInteger:
      return is_integer(value);
    case InputType::kNumber:
      return value.IsNumber();
    case InputType::kBoolean:
      return value.IsBool();
    case InputType::kArray:
      return value.IsArray();
    case InputType::kObject:
      return value.IsObject();
    case InputType::kAny:
      return true;
    case InputType::kDateTime:
      break;
  }
  return value.IsString() && is_time(view(value));
}

const char* expected(InputType type) {
  switch (type) {
    case InputType::kString:
      return "a text";
    case InputType::kInteger:
      return "a whole number";
    case InputType::kNumber:
      return "a number";
    case InputType::kBoolean:
      return "true or false";
    case InputType::kArray:
      return "a list";
    case InputType::kObject:
      return "an object";
    case InputType::kAny:
      return "a JSON value";
    case InputType::kDateTime:
      break;
  }
  return "a time as text, RFC 3339 (2026-11-21T09:30:00Z, or 2026-11-21) or a message timestamp (1700000001.000001)";
}

/// Of a value that is of another type.
std::string why_not_type(const InputDefinition& input, const JsonValue& value) {
  const auto text = input.type == InputType::kDateTime && value.IsString() ? view(value) : std::string_view();
  constexpr std::size_t longest = 40;
  if (!text.empty() && text.size() <= longest && is_time(std::string(text) + "Z"))
    return fmt::format("lacks its time zone: write {0}Z for UTC, or an offset, such as {0}+02:00", text);
  return fmt::format("must be {}, not {}", expected(input.type), shown(value));
}

std::string why_not_length(const InputDefinition& input, std::size_t length, const char* unit) {
  if (input.min_length && length < *input.min_length) {
    if (length == 0) return "must not be empty";
    return fmt::format("has {} {}, at least {} are needed", length, unit, *input.min_length);
  }
  if (input.max_length && length > *input.max_length)
    return fmt::format("has {} {}, at most {} are accepted", length, unit, *input.max_length);
  return {};
}

std::string why_not_bounds(const InputDefinition& input, const JsonValue& value) {
  const auto number = value.IsInt64() ? value.GetInt64() : static_cast<std::int64_t>(value.GetDouble());
  const bool below = input.minimum && number < *input.minimum, above = input.maximum && number > *input.maximum;
  if (!below && !above) return {};
  if (input.minimum && input.maximum)
    return fmt::format("must be from {} to {}, not {}", *input.minimum, *input.maximum, number);
  return below ? fmt::format("must be at least {}, not {}", *input.minimum, number)
               : fmt::format("must be at most {}, not {}", *input.maximum, number);
}

std::string why_not_allowed(const InputDefinition& input, std::string_view text) {
  if (input.one_of.empty() || std::find(input.one_of.begin(), input.one_of.end(), text) != input.one_of.end())
    return {};
  std::string all;
  for (const auto& name : input.one_of) all += (all.empty() ? "" : ", ") + name;
  return fmt::format("must be one of {}, not \"{}\"", all, printable(text.substr(0, 60)));
}

std::string why_not_array(const InputDefinition& input, const JsonValue& value) {
  if (auto why = why_not_length(input, value.Size(), "entries"); !why.empty() || input.items.empty()) return why;
  for (rapidjson::SizeType i = 0; i < value.Size(); ++i) {
    const auto why = why_not_value(input.items[0], value[i]);
    if (!why.empty()) return fmt::format("entry {} {}", i + 1, why);
  }
  return {};
}

/// Checks one call. Sentences begin with the capability's name.
class Checker {
 public:
  Checker(const CapabilityDefinition& capability, const JsonValue& arguments)
      : capability_(capability), arguments_(arguments) {}

  CheckedArguments run() {
    refuse_unknown();
    take_host_inputs();
    result_.params.SetObject();
    for (const auto& input : capability_.inputs) take(input);
    require_one_of_each();
    if (capability_.schema) {
      const auto why = capability_.schema->why_not(result_.params);
      if (!why.empty()) fail(why);
    }
    // What may be anything need have no canonical form: 2^53 + 1 has none.
    result_.params_json = takes_anything() ? to_json(result_.params) : canonical_json(result_.params);
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw invalid_input(fmt::format("{}: {}.", capability_.name, message));
  }

  bool takes_anything() const {
    return std::any_of(capability_.inputs.begin(), capability_.inputs.end(),
                       [](const InputDefinition& input) { return input.type == InputType::kAny; });
  }

  bool is_write() const { return capability_.kind == CapabilityKind::kWrite; }

  std::vector<std::string> known_names() const {
    std::vector<std::string> names;
    for (const auto& input : capability_.inputs) {
      names.push_back(input.name);
      names.insert(names.end(), input.aliases.begin(), input.aliases.end());
    }
    names.push_back("account");
    if (is_write()) names.insert(names.end(), {"idempotency_key", "allow_duplicate", "send_at"});
    return names;
  }

  void refuse_unknown() const {
    const auto names = known_names();
    for (const auto& member : arguments_.GetObject()) {
      const auto name = view(member.name);
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      std::string all;
      for (const auto& known : names) all += (all.empty() ? "" : ", ") + known;
      fail(fmt::format("there is no parameter \"{}\"{}; it takes {}", printable(name.substr(0, 60)),
                       did_you_mean(name, names), all));
    }
  }

  void take_host_inputs() {
    result_.account = host_text("account");
    result_.idempotency_key = host_text("idempotency_key");
    if (const auto* value = given("allow_duplicate")) {
      if (!value->IsBool()) fail(fmt::format("\"allow_duplicate\" must be true or false, not {}", shown(*value)));
      result_.allow_duplicate = value->GetBool();
    }
    if (const auto* value = is_write() ? given("send_at") : nullptr)
      result_.send_at_ms = parse_send_at(capability_.name, *value);
  }

  std::string host_text(const char* name) const {
    const auto* value = given(name);
    if (!value) return {};
    if (!value->IsString() || value->GetStringLength() == 0 || value->GetStringLength() > kMaxKeyLength)
      fail(fmt::format("\"{}\" must be a text of 1 to {} bytes, not {}", name, kMaxKeyLength, shown(*value)));
    refuse_odd_text(name, *value);
    return std::string(view(*value));
  }

  /// No service takes such a text, and none is asked whether it does.
  void refuse_odd_text(std::string_view name, const JsonValue& value) const {
    if (const auto odd = find_odd_text(value, name)) fail(fmt::format("\"{}\" {}", odd->where, odd->why));
  }

  const JsonValue* given(std::string_view name) const {
    const auto* value = find_member(arguments_, name);
    return value && !value->IsNull() ? value : nullptr;
  }

  const JsonValue* given(const InputDefinition& input, const std::string& name) const {
    return input.nullable ? find_member(arguments_, name) : given(name);
  }

  /// By its name or one of its aliases, but not by two of them.
  const JsonValue* given(const InputDefinition& input) const {
    const JsonValue* found = given(input, input.name);
    std::string by = input.name;
    for (const auto& alias : input.aliases) {
      const auto* value = given(input, alias);
      if (value && found && *value != *found)
        fail(fmt::format("\"{}\" and \"{}\" mean the same and were given different values; give one", by, alias));
      if (value && !found) {
        found = value;
        by = alias;
      }
    }
    return found;
  }

  void take(const InputDefinition& input) {
    if (const auto* value = given(input)) {
      refuse_odd_text(input.name, *value);
      const auto why = why_not_value(input, *value);
      if (!why.empty()) fail(fmt::format("\"{}\" {}", input.name, why));
      add(input, *value);
    } else if (input.required) {
      fail(fmt::format("\"{}\" is missing: {}", input.name, without_stop(input.description)));
    } else if (input.default_json) {
      add(input, parse_json(*input.default_json, "the default"));
    }
  }

  void add(const InputDefinition& input, const JsonValue& value) {
    auto& allocator = result_.params.GetAllocator();
    JsonValue copy;
    copy.CopyFrom(value, allocator);
    if (input.type == InputType::kInteger) make_whole(copy);
    if (!input.items.empty() && input.items[0].type == InputType::kInteger && copy.IsArray()) {
      for (auto& entry : copy.GetArray()) make_whole(entry);
    }
    result_.params.AddMember(JsonValue(input.name.c_str(), allocator), copy, allocator);
  }

  /// 20.0 is 20.
  static void make_whole(JsonValue& value) {
    if (value.IsDouble()) value.SetInt64(static_cast<std::int64_t>(value.GetDouble()));
  }

  void require_one_of_each() const {
    const auto& groups = capability_.one_input_of;
    const auto has_one = [this](const std::vector<std::string>& group) {
      return std::any_of(group.begin(), group.end(),
                         [this](const auto& name) { return find_member(result_.params, name); });
    };
    if (!std::all_of(groups.begin(), groups.end(), has_one)) fail("give " + one_input_in_words(groups));
  }

  static std::string without_stop(std::string text) {
    if (text.ends_with('.')) text.pop_back();
    return text;
  }

  const CapabilityDefinition& capability_;
  const JsonValue& arguments_;
  CheckedArguments result_;
};

}  // namespace

std::string why_not_value(const InputDefinition& input, const JsonValue& value) {
  if (input.nullable && value.IsNull()) return {};
  if (!fits_type(input.type, value)) return why_not_type(input, value);
  if (input.type == InputType::kInteger) return why_not_bounds(input, value);
  if (input.type == InputType::kArray) return why_not_array(input, value);
  if (input.type != InputType::kString) return {};
  const auto why = why_not_length(input, code_points(view(value)), "characters");
  return why.empty() ? why_not_allowed(input, view(value)) : why;
}

std::int64_t parse_send_at(const std::string& where, const JsonValue& value) {
  constexpr std::size_t date = 10;  // 2026-11-21: which day that is depends on where one is
  const auto text = value.IsString() ? view(value) : std::string_view();
  try {
    if (const auto ms = text.size() > date ? parse_time(text, "send_at") : 0; ms > 0) return ms;
  } catch (const Error&) {
    // Below.
  }
  throw invalid_input(
      fmt::format("{}: \"send_at\" must be a time with its zone, RFC 3339, such as 2026-11-21T09:30:00Z or "
                  "2026-11-21T09:30:00+02:00, not {}.",
                  where, shown(value)));
}

CheckedArguments check_arguments(const CapabilityDefinition& capability, std::string_view arguments_json) {
  JsonLimits limits;
  limits.max_keys = kMaxKeys;
  limits.odd_text = OddText::kKept;  // refused below, by the name of its parameter
  const auto document = parse_json(arguments_json.empty() ? "{}" : arguments_json,
                                   fmt::format("{}: the arguments object", capability.name), limits);
  if (!document.IsObject())
    throw invalid_input(
        fmt::format("{}: the arguments must be one JSON object, such as {{\"name\": \"value\"}}.", capability.name));
  return Checker(capability, document).run();
}

}  // namespace krux
