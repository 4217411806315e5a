#include "host/bundles/loading.hpp"

#include <fmt/format.h>

#include <set>

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

InspectedBundle inspect_pinned(const std::filesystem::path& directory, const BundlePin& pin,
                               const ProbeOptions& probe) {
  try {
    auto bundle = inspect_bundle(directory, &pin.files, probe);
    if (const auto& service = bundle.contents.definition->service; service != pin.terms.service)
      throw ConfigError(fmt::format("It is of {}, and was installed as {}.", service, pin.terms.service));
    return bundle;
  } catch (const ConfigError& e) {
    throw ConfigError(
        fmt::format("{} Install the bundle anew from where you trust it (kruxos plugin install DIR), or "
                    "remove it (kruxos plugin remove {}), then start the host again.",
                    e.what(), pin.terms.service));
  }
}

void load(const BundlePin& pin, const BundleLoading& loading, PluginRegistry& registry, DefinitionSet& definitions) {
  const auto& service = pin.terms.service;
  std::error_code error;
  const auto root = std::filesystem::canonical(loading.bundles_dir, error);
  const auto directory = (error ? loading.bundles_dir : root) / pin.directory;
  try {
    refuse_loaded(pin, registry);
    const auto bundle = inspect_pinned(directory, pin, loading.probe);
    const auto& definition = bundle.contents.definition;
    refuse_taken(*definition, definitions.all());
    definitions.check_policy(definition);  // before the library is loaded: it is not unloaded again
    const auto chosen = loading.chosen ? loading.chosen(service) : std::nullopt;
    registry.add(bundle.report, chosen.value_or(Isolation::kProcess), PluginInfo::Origin::kBundle);
    if (registry.find(service)) definitions.add_fixed(definition);
  } catch (const std::exception& e) {  // whatever a bundle holds keeps no host from starting
    auto info = refused(directory / pin.library, e.what());
    info.service = service;
    info.prefix = pin.terms.prefix;
    info.version = pin.terms.version;
    registry.add_refused(std::move(info));
  }
}

}  // namespace

std::vector<BundleAhead> bundles_ahead(const std::filesystem::path& data_dir, const PluginRegistry& registry) {
  BundlePins pins;
  try {
    pins = read_pins(data_dir);
  } catch (const ConfigError&) {  // the next start says so
    return {};
  }
  std::vector<BundleAhead> ahead;
  std::set<std::string> known;
  for (const auto& plugin : registry.all()) {
    if (plugin.origin != PluginInfo::Origin::kBundle || plugin.service.empty()) continue;
    known.insert(plugin.file.parent_path().filename().string());
    if (!pins.find(plugin.service)) ahead.push_back({plugin.service, plugin.version, true});
  }
  for (const auto& pin : pins.bundles) {
    if (!known.contains(pin.directory)) ahead.push_back({pin.terms.service, pin.terms.version, false});
  }
  return ahead;
}

void load_bundles(const BundleLoading& loading, PluginRegistry& registry, DefinitionSet& definitions) {
  try {
    if (loading.tidies) remove_leftovers(loading.data_dir, loading.bundles_dir);
    for (const auto& pin : read_pins(loading.data_dir).bundles) load(pin, loading, registry, definitions);
  } catch (const std::exception& e) {
    registry.add_refused(refused(pins_file(loading.data_dir), fmt::format("No bundle is loaded. {}", e.what())));
  }
}

}  // namespace krux
