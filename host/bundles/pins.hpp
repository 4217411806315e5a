// What the operator agreed to: each installed bundle's files by their hashes, and its terms. Kept in bundles.json of
// the data directory, apart from the files. docs/bundles.md has the shape.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/bundle/contents.hpp"
#include "core/bundle/terms.hpp"

namespace krux {

struct BundlePin {
  BundleTerms terms;
  std::string directory;  ///< its name below the bundles directory
  FileHashes files;
  std::string library;  ///< one of files
  std::int64_t installed_at_ms = 0;
  std::string installed_by;  ///< "ann (uid 1000)"
};

struct BundlePins {
  std::int64_t next = 1;           ///< what the next installation is numbered by
  std::vector<BundlePin> bundles;  ///< by service
  /// All that were made for this data directory and are there yet. Nothing else below the bundles directory is its own.
  std::vector<std::string> directories{};

  const BundlePin* find(const std::string& service) const;
};

/// `name` stands in the sentences where a file's name would. Throws ConfigError.
BundlePins parse_pins(std::string_view json, const std::string& name);
std::string pins_json(const BundlePins& pins);

/// "notes-1/manifest.yaml": all that belongs to what is installed, below the bundles directory.
std::vector<std::string> pinned_files(const BundlePins& pins);

std::filesystem::path pins_file(const std::filesystem::path& data_dir);

/// None where there is no file. Throws ConfigError when the file is damaged or could have been written by others.
BundlePins read_pins(const std::filesystem::path& data_dir);

}  // namespace krux
