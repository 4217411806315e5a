#include "host/certify/static_checks.hpp"

#include <fmt/format.h>

#include <kruxos/abi.h>

#include <algorithm>

#include "core/definition/definition_loader.hpp"
#include "core/policy/policy.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "core/util/yaml_tree.hpp"
#include "host/certify/check.hpp"
#include "host/plugins/elf_inspect.hpp"
#include "host/plugins/plugin_file.hpp"
#include "host/plugins/verify.hpp"

namespace krux::certify {
namespace {

class OwnDefinition final : public DefinitionIndex {
 public:
  OwnDefinition(std::shared_ptr<const ServiceDefinition> definition, const std::string& why)
      : definition_(std::move(definition)), why_(why) {}
  std::shared_ptr<const ServiceDefinition> find(const std::string& service, std::string& why) const override {
    if (definition_ && definition_->service == service) return definition_;
    why = definition_ ? fmt::format("The definition is of {}.", definition_->service) : why_;
    return nullptr;
  }

 private:
  const std::shared_ptr<const ServiceDefinition> definition_;
  const std::string& why_;
};

void need_capability(const ServiceDefinition& definition, const std::string& name, CapabilityKind kind,
                     const char* where) {
  const auto* capability = definition.find(name);
  if (!capability || capability->kind != kind)
    throw CheckFailed(fmt::format("conformance.{} names {}, which is no {} of the definition.", where, printable(name),
                                  krux::to_string(kind)));
}

std::vector<std::string> collections_named(const ServiceDefinition& definition) {
  std::vector<std::string> names;
  const auto add = [&](const std::optional<ReplicaValues>& values) {
    if (values) names.push_back(values->collection);
  };
  for (const auto& capability : definition.capabilities) {
    for (const auto& input : capability.inputs) add(input.values_from);
  }
  for (const auto& prompt : definition.prompts) {
    for (const auto& argument : prompt.arguments) add(argument.values_from);
  }
  for (const auto& resource : definition.resources) {
    if (resource.changes_with) names.push_back(resource.changes_with->collection);
  }
  return names;
}

}  // namespace

std::string missing_collection(const ServiceDefinition& definition, const std::vector<CollectionSpec>& declared) {
  for (const auto& name : collections_named(definition)) {
    const auto is = [&](const CollectionSpec& spec) { return spec.name == name; };
    if (std::none_of(declared.begin(), declared.end(), is)) return name;
  }
  return {};
}

BundleInspection::BundleInspection(const BundleManifest& manifest, const std::filesystem::path& probe)
    : manifest_(manifest) {
  try {
    definition_ = std::make_shared<const ServiceDefinition>(load_definition(manifest.directory / manifest.definition));
  } catch (const ConfigError& error) {
    why_no_definition_ = error.what();
  }
  const OwnDefinition index(definition_, why_no_definition_);
  InspectOptions options;
  options.probe.confinement.required = false;  // the adapter's author certifies it, on a machine of theirs
  options.probe.program = probe;
  options.definitions = &index;
  report_ = verify_plugin(manifest.directory / manifest.library, options);
}

const ServiceDefinition& BundleInspection::definition() const {
  if (!definition_) throw CheckFailed(why_no_definition_);
  return *definition_;
}

void BundleInspection::check_library() const {
  if (!report_.passed()) throw CheckFailed(report_.first_failure());
}

/// As an installation reads it.
void BundleInspection::check_policy() const {
  if (manifest_.policy.empty()) return;
  const auto file = manifest_.directory / manifest_.policy;
  try {
    under_policy(definition(), read_text_file(file), file.string(), PolicyOf::kAuthor);
  } catch (const ConfigError& error) {
    throw CheckFailed(error.what());
  }
}

void BundleInspection::check_exports() const {
  const auto file = open_plugin_file(manifest_.directory / manifest_.library);
  if (!file.problem.empty()) throw CheckFailed(file.problem);
  const auto elf = inspect_elf(file.bytes);
  if (!elf.problem.empty()) throw CheckFailed(elf.problem);
  if (elf.other_count > 0)
    throw CheckFailed(
        fmt::format("It exports {} other symbols, such as {}.", elf.other_count, printable(elf.others.front())));
}

void BundleInspection::check_manifest() const {
  if (manifest_.abi != KRUX_ABI_MAJOR)
    throw CheckFailed(fmt::format("The manifest says ABI {}, this host speaks ABI {}.", manifest_.abi, KRUX_ABI_MAJOR));
  if (const auto why = why_not_definition(manifest_, definition()); !why.empty()) throw CheckFailed(why);
  const auto& entry = report_.entry;
  if (entry.service != manifest_.service || entry.version != manifest_.version)
    throw CheckFailed(fmt::format("The library is of {} {}, the manifest of {} {}.", printable(entry.service),
                                  printable(entry.version), manifest_.service, manifest_.version));
  check_policy();
  if (!manifest_.conformance) return;
  for (const auto& [name, params] : manifest_.conformance->reads) {
    need_capability(definition(), name, CapabilityKind::kRead, "reads");
  }
  for (const auto& write : manifest_.conformance->writes) {
    need_capability(definition(), write.operation, CapabilityKind::kWrite, "writes");
  }
}

}  // namespace krux::certify
