// A plugin's file as it was opened: who may write it, its bytes, its hash.
#pragma once

#include <filesystem>
#include <string>

#include "core/util/checked_file.hpp"

namespace krux {

using PluginFile = CheckedFile;

/// A regular file, no symbolic link, owned by root or by the user of this process, writable by nobody else, of at most
/// 256 MiB.
PluginFile open_plugin_file(const std::filesystem::path& file);

/// Why code must not be loaded from `directory`: it, or one of the directories above it, belongs to or can be written
/// by somebody else (a sticky directory such as /tmp may stand above it). Empty when nothing is wrong. `directory` has
/// no symbolic links left.
std::string directory_problem(const std::filesystem::path& directory);

}  // namespace krux
