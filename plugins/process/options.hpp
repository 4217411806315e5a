// What the operator sets: services.process.adapter.
#pragma once
#include <cstdint>
#include <string>

#include "workspace/options.hpp"

namespace process {

/// The workspace's bounds hold while something runs in it.
struct Options : workspace::Options {
  std::int64_t memory_mib = 512;           ///< of all processes of one run together
  std::int64_t processes = 64;             ///< of one run at once
  std::int64_t output_kib = 1024;          ///< of standard output, and of standard error
  std::int64_t file_mib = 256;             ///< of one file that is written
  std::int64_t background_seconds = 3600;  ///< of what runs on after the call
  std::int64_t running = 4;                ///< of one agent at once
  std::string sandbox = "bwrap";           ///< the program that makes it
  bool allow_root = false;                 ///< of a host that runs as root: the kernel counts none of its processes
};

inline constexpr const char* kConfigSchema = R"({
  "type": "object",
  "additionalProperties": false,
  "required": ["root"],
  "properties": {
    "root": {"type": "string", "minLength": 2, "maxLength": 1000},
    "memory_mib": {"type": "integer", "minimum": 16, "maximum": 1048576},
    "processes": {"type": "integer", "minimum": 2, "maximum": 4096},
    "output_kib": {"type": "integer", "minimum": 1, "maximum": 2048},
    "file_mib": {"type": "integer", "minimum": 1, "maximum": 1048576},
    "workspace_mib": {"type": "integer", "minimum": 1, "maximum": 1048576},
    "workspace_entries": {"type": "integer", "minimum": 10, "maximum": 10000000},
    "background_seconds": {"type": "integer", "minimum": 1, "maximum": 86400},
    "running": {"type": "integer", "minimum": 1, "maximum": 64},
    "sandbox": {"type": "string", "minLength": 1, "maxLength": 1000},
    "allow_root": {"type": "boolean"}
  }
})";

/// Throws ProxyError kInvalid where the root is missing.
Options options_of(const std::string& config_json);

}  // namespace process
