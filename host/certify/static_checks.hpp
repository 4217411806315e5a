// The checks that need none of the adapter's code to run in the kit.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/bundle/manifest.hpp"
#include "core/replica/collection.hpp"
#include "host/plugins/inspection.hpp"

namespace krux::certify {

/// The library and the definition as the host's own checks see them. Never loads the library into this process.
class BundleInspection {
 public:
  BundleInspection(const BundleManifest& manifest, const std::filesystem::path& probe);

  // Each throws CheckFailed, or has passed.
  void check_library() const;
  void check_exports() const;
  void check_manifest() const;

 private:
  const ServiceDefinition& definition() const;
  void check_policy() const;

  const BundleManifest& manifest_;
  std::shared_ptr<const ServiceDefinition> definition_;
  std::string why_no_definition_;
  PluginReport report_;
};

/// A collection that the definition names and the adapter does not declare; empty: there is none.
std::string missing_collection(const ServiceDefinition& definition, const std::vector<CollectionSpec>& declared);

}  // namespace krux::certify
