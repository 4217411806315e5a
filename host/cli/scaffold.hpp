// The beginnings of an adapter, written out as files: `kruxos adapter new`.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace krux::cli {

/// One file of adapter_template/, compiled in. NAME in its name, and in its text @NAME@, @PREFIX@, @DISPLAY_NAME@,
/// @CLASS@ and @HOST@ are replaced.
struct ScaffoldFile {
  std::string_view name, text;
};
std::span<const ScaffoldFile> scaffold_files();

struct ScaffoldPlan {
  std::string name;                 ///< the service
  std::string prefix;               ///< of its capabilities; empty: the name
  std::string display_name;         ///< empty: made of the name
  std::filesystem::path directory;  ///< is made, with those above it; empty: the name, here
};

struct Scaffold {
  std::filesystem::path directory;
  std::string name, prefix, display_name;
  std::vector<std::string> files;
};

/// Writes all files or none: what was begun is removed again where one cannot be written. Their modes are those that a
/// host accepts, whatever the umask. Throws CliError with a sentence: kUsage for names that do not fit, kConflict for a
/// directory that is not empty, kFailed where something cannot be written.
Scaffold scaffold_adapter(const ScaffoldPlan& plan);

}  // namespace krux::cli
