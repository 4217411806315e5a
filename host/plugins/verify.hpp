// What `kruxos plugin verify FILE` says.
#pragma once

#include <filesystem>
#include <string>

#include "host/plugins/inspection.hpp"

namespace krux {

/// All checks that the host would make at start, and whether the file's path can be used at all. `file` may be relative
/// and may lead through symbolic links to directories; the file itself must be none. Never loads the plugin into this
/// process.
PluginReport verify_plugin(const std::filesystem::path& file, const InspectOptions& options);

/// One line a check ("ok", "FAILED", "-"), for terminals; nothing of the file's text passes unescaped.
std::string report_text(const PluginReport& report);

/// {"file", "ok", "service", "prefix", "version", "abi_minor", "sha256", "checks": [{"name", "outcome", "detail"}]}
std::string report_json(const PluginReport& report);

}  // namespace krux
