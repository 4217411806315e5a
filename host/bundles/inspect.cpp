#include "host/bundles/inspect.hpp"

#include <fmt/format.h>

#include "core/util/error.hpp"
#include "core/util/text.hpp"

namespace krux {
namespace {

class OneDefinition final : public DefinitionIndex {
 public:
  explicit OneDefinition(std::shared_ptr<const ServiceDefinition> definition) : definition_(std::move(definition)) {}
  std::shared_ptr<const ServiceDefinition> find(const std::string& service, std::string& why) const override {
    if (definition_->service == service) return definition_;
    why = fmt::format("the bundle's is of {}.", definition_->service);
    return nullptr;
  }

 private:
  const std::shared_ptr<const ServiceDefinition> definition_;
};

}  // namespace

InspectedBundle inspect_bundle(const std::filesystem::path& directory, const FileHashes* pins,
                               const ProbeOptions& probe, const std::filesystem::path& shown) {
  InspectedBundle bundle{read_bundle(directory, pins, shown), {}};
  const auto& manifest = bundle.contents.manifest;
  const auto& place = shown.empty() ? directory : shown;
  const auto fail = [&](const std::string& name, const std::string& why) {
    throw ConfigError(fmt::format("{}: {}", printable((place / name).string()), printable(why)));
  };
  if (manifest.abi != KRUX_ABI_MAJOR)
    fail(kManifestName, fmt::format("It says ABI {}, this host speaks ABI {}.", manifest.abi, KRUX_ABI_MAJOR));
  const OneDefinition index(bundle.contents.definition);
  const InspectOptions options{probe, &index, bundle.contents.files.at(manifest.library)};
  bundle.report = inspect_plugin(directory / manifest.library, options);
  if (!bundle.report.passed()) fail(manifest.library, bundle.report.first_failure());
  const auto& entry = bundle.report.entry;
  if (entry.version != manifest.version)
    fail(kManifestName,
         fmt::format("It says version {}, the library says version {}.", manifest.version, entry.version));
  return bundle;
}

void refuse_taken(const ServiceDefinition& bundle,
                  const std::vector<std::shared_ptr<const ServiceDefinition>>& others) {
  for (const auto& other : others) {
    if (other->service == bundle.service)
      throw ConfigError(
          fmt::format("The service {} is there already, outside the bundles, and a bundle does not "
                      "replace it; remove one of them.",
                      bundle.service));
    if (other->prefix == bundle.prefix)
      throw ConfigError(
          fmt::format("The prefix {} of the bundle of {} is that of the service {}; ask its author for "
                      "another one.",
                      bundle.prefix, bundle.service, other->service));
  }
}

}  // namespace krux
