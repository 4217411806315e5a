#include "host/plugins/config_schema.hpp"

#include <fmt/format.h>
#include <rapidjson/schema.h>

#include "core/util/error.hpp"
#include "core/util/json.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

constexpr JsonLimits kLimits{256 * 1024, 32};

std::string text_of(const rapidjson::Pointer& pointer) {
  rapidjson::StringBuffer out;
  pointer.Stringify(out);
  return out.GetSize() == 0 ? "its top level" : printable({out.GetString(), out.GetSize()});
}

}  // namespace

std::string schema_problem(std::string_view schema_json) {
  if (schema_json.empty()) return {};
  try {
    const auto schema = parse_json(schema_json, "config_schema", kLimits);
    return schema.IsObject() ? "" : "Its config_schema is not a JSON object.";
  } catch (const Error& e) {
    return fmt::format("Its config_schema cannot be read: {}", e.what());
  }
}

std::string config_problem(std::string_view schema_json, std::string_view config_json) {
  try {
    const auto config = parse_json(config_json, "the adapter's configuration", kLimits);
    if (!config.IsObject()) return "The adapter's configuration is not a JSON object.";
    if (schema_json.empty()) {
      return config.MemberCount() == 0 ? "" : "This adapter takes no configuration; remove its `adapter` section.";
    }
    const auto source = parse_json(schema_json, "config_schema", kLimits);
    const rapidjson::SchemaDocument schema(source);
    rapidjson::SchemaValidator validator(schema);
    if (config.Accept(validator)) return {};
    return fmt::format("The adapter's configuration breaks the rule \"{}\" of its schema at {}.",
                       validator.GetInvalidSchemaKeyword(), text_of(validator.GetInvalidDocumentPointer()));
  } catch (const Error& e) {
    return e.what();
  }
}

}  // namespace krux
