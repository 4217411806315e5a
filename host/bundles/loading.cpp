#include "host/bundles/loading.hpp"

#include <fmt/format.h>

#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/bundles/inspect.hpp"
#include "host/bundles/pins.hpp"
#include "host/bundles/store.hpp"

namespace krux {
namespace {

PluginInfo refused(const std::filesystem::path& file, std::string reason) {
  PluginInfo info;
  info.file = file;
  info.origin = PluginInfo::Origin::kBundle;
  info.isolation = Isolation::kProcess;
  info.reason = std::move(reason);
  return info;
}

void refuse_loaded(const BundlePin& pin, const PluginRegistry& registry) {
  for (const auto& other : registry.all()) {
    // One that was refused before it said what it serves stands in nobody's way.
    if (other.service == pin.terms.service || (!other.prefix.empty() && other.prefix == pin.terms.prefix))
      throw ConfigError(fmt::format("{} has the service {} and the prefix {} already; remove one of them.",
                                    printable(other.file.string()), printable(other.service), printable(other.prefix)));
  }
}

void load(const BundlePin& pin, const BundleLoading& loading, PluginRegistry& registry, DefinitionSet& definitions) {
  const auto& service = pin.terms.service;
  std::error_code error;
  const auto root = std::filesystem::canonical(loading.bundles_dir, error);
  const auto directory = (error ? loading.bundles_dir : root) / pin.directory;
  try {
    refuse_loaded(pin, registry);
    const auto bundle = inspect_bundle(directory, &pin.files, loading.probe);
    const auto& definition = bundle.contents.definition;
    if (definition->service != service)
      throw ConfigError(fmt::format("It is of {}, and was installed as {}.", definition->service, service));
    refuse_taken(*definition, definitions.all());
    const auto chosen = loading.chosen ? loading.chosen(service) : std::nullopt;
    registry.add(bundle.report, chosen.value_or(Isolation::kProcess), PluginInfo::Origin::kBundle);
    if (registry.find(service)) definitions.add_fixed(definition);
  } catch (const ConfigError& e) {
    auto info = refused(directory / pin.library, "");
    info.service = service;
    info.prefix = pin.terms.prefix;
    info.version = pin.terms.version;
    info.reason = fmt::format(
        "{} If you did not do that, find out who did. Install the bundle anew from where you trust it (kruxos plugin "
        "install DIR), or remove it (kruxos plugin remove {}), then start the host again.",
        e.what(), service);
    registry.add_refused(std::move(info));
  }
}

}  // namespace

void load_bundles(const BundleLoading& loading, PluginRegistry& registry, DefinitionSet& definitions) {
  try {
    remove_leftovers(loading.data_dir, loading.bundles_dir);
    for (const auto& pin : read_pins(loading.data_dir).bundles) load(pin, loading, registry, definitions);
  } catch (const ConfigError& e) {
    registry.add_refused(refused(pins_file(loading.data_dir), fmt::format("No bundle is loaded. {}", e.what())));
  }
}

}  // namespace krux
