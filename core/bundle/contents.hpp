// The files of a bundle, read once: what is hashed is what is parsed.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "core/bundle/manifest.hpp"
#include "core/definition/definition.hpp"

namespace krux {

inline constexpr const char* kManifestName = "manifest.yaml";
inline constexpr std::uintmax_t kLargestBundleText = 1 << 20, kLargestBundleFile = std::uintmax_t{256} << 20;

using FileHashes = std::map<std::string, std::string>;  ///< lower-case hex SHA-256 by file name

struct BundleContents {
  BundleManifest manifest;
  std::shared_ptr<const ServiceDefinition> definition;  ///< with the policy applied
  FileHashes files;                                     ///< of everything in the directory
};

/// Reads every file of the directory, which nobody but root and the user of this process may be able to write. With
/// `pins` each must be as pinned, none may be missing, and no other may be there. `shown` stands in the sentences for
/// the directory; empty: itself. Throws ConfigError.
BundleContents read_bundle(const std::filesystem::path& directory, const FileHashes* pins = nullptr,
                           const std::filesystem::path& shown = {});

/// What is copied when the bundle is installed: library, definition, policy, and what stands under hashes.
std::vector<std::string> files_of(const BundleManifest& manifest);

}  // namespace krux
