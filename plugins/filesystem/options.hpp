// What the operator sets: services.filesystem.adapter.
#pragma once
#include <cstdint>
#include <string>

#include "workspace/options.hpp"

namespace filesystem {

struct Options : workspace::Options {
  std::uint64_t undo_bytes = 1024ULL << 20;  ///< of what one agent's undos need
};

inline constexpr const char* kConfigSchema = R"({
  "type": "object",
  "additionalProperties": false,
  "required": ["root"],
  "properties": {
    "root": {"type": "string", "minLength": 2, "maxLength": 1000},
    "workspace_mib": {"type": "integer", "minimum": 1, "maximum": 1048576},
    "workspace_entries": {"type": "integer", "minimum": 10, "maximum": 10000000},
    "undo_mib": {"type": "integer", "minimum": 1, "maximum": 1048576}
  }
})";

/// Throws ProxyError kInvalid where the root is missing.
Options options_of(const std::string& config_json);

}  // namespace filesystem
