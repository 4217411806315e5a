// The checks that need none of the adapter's code to run in the kit.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/bundle/manifest.hpp"

namespace krux::certify {

/// Each throws CheckFailed, or has passed.
void check_library(const BundleManifest& manifest, const std::filesystem::path& probe);
void check_exports(const BundleManifest& manifest);
void check_manifest(const BundleManifest& manifest, const std::filesystem::path& probe);

}  // namespace krux::certify
