#include "options.hpp"

#include <kruxos/kit/json.hpp>

namespace mcp {
namespace {

constexpr const char* kErrors = R"("tool_errors": {"type": "string", "enum": ["unknown", "refused"]})";
constexpr const char* kProgram = R"(,
    "memory_mib": {"type": "integer", "minimum": 16, "maximum": 67108864},
    "processes": {"type": "integer", "minimum": 2, "maximum": 4096},
    "file_mib": {"type": "integer", "minimum": 1, "maximum": 1048576},
    "network": {"type": "boolean"},
    "readable": {"type": "array", "maxItems": 32, "items": {"type": "string", "minLength": 2, "maxLength": 1000}},
    "environment_file": {"type": "string", "minLength": 2, "maxLength": 1000},
    "sandbox": {"type": "string", "minLength": 1, "maxLength": 1000},
    "allow_root": {"type": "boolean"})";

}  // namespace

std::string config_schema_of(const Wrapped& wrapped) {
  return std::string(R"({"type": "object", "additionalProperties": false, "properties": {)") + kErrors +
         (wrapped.is_program() ? kProgram : "") + "}}";
}

ToolErrors tool_errors_of(std::string_view config_json) {
  const auto config = kruxos::kit::parse(config_json);
  return kruxos::kit::text_of(config, "tool_errors") == "refused" ? ToolErrors::kRefused : ToolErrors::kUnknown;
}

StdioOptions program_of(const Wrapped& wrapped, std::string_view config_json) {
  const auto config = kruxos::kit::parse(config_json);
  StdioOptions options;
  options.command = wrapped.command;
  auto& confinement = options.confinement;
  const auto take = [&](const char* name, std::int64_t& value) {
    value = kruxos::kit::integer_of(config, name, value);
  };
  take("memory_mib", confinement.memory_mib);
  take("processes", confinement.processes);
  take("file_mib", confinement.file_mib);
  confinement.network = kruxos::kit::flag_of(config, "network");
  confinement.readable = kruxos::kit::texts_of(config, "readable");
  confinement.environment_file = kruxos::kit::text_of(config, "environment_file");
  confinement.sandbox = kruxos::kit::text_of(config, "sandbox", confinement.sandbox);
  options.allow_root = kruxos::kit::flag_of(config, "allow_root");
  options.allow_root_key = "services." + wrapped.service + ".adapter.allow_root";
  confined::check(confinement);
  return options;
}

}  // namespace mcp
