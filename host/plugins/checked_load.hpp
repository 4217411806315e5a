// Loads a plugin's file as every program of ours does: the file is judged first, its entry afterwards.
#pragma once

#include <kruxos/abi/entry.h>

#include <filesystem>
#include <string>

#include "host/plugins/entry_check.hpp"

namespace krux {

struct CheckedPlugin {
  std::string problem;                       ///< why it must not be used, as a sentence; the rest is unset then
  const krux_plugin_entry* entry = nullptr;  ///< valid until the process ends
  EntryInfo info;
  std::string sha256;  ///< of the file
};

/// Runs the library's static constructors. Throws PluginRefused when the loader refuses it.
CheckedPlugin load_checked(const std::filesystem::path& file);

}  // namespace krux
