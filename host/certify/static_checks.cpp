#include "host/certify/static_checks.hpp"

#include <fmt/format.h>

#include <kruxos/abi.h>

#include "core/capability/definition_loader.hpp"
#include "core/util/error.hpp"
#include "core/util/text.hpp"
#include "host/certify/check.hpp"
#include "host/plugins/elf_inspect.hpp"
#include "host/plugins/plugin_file.hpp"
#include "host/plugins/verify.hpp"

namespace krux::certify {
namespace {

/// A definition that was loaded, or why it could not be.
class LoadedDefinition final : public DefinitionIndex {
 public:
  explicit LoadedDefinition(const BundleManifest& manifest) {
    try {
      definition_ = std::make_shared<const ServiceDefinition>(load_definition(manifest.directory / manifest.definition));
    } catch (const ConfigError& error) {
      why_ = error.what();
    }
  }
  std::shared_ptr<const ServiceDefinition> find(const std::string& service, std::string& why) const override {
    if (definition_ && definition_->service == service) return definition_;
    why = definition_ ? fmt::format("The definition is of {}.", definition_->service) : why_;
    return nullptr;
  }
  const ServiceDefinition& get() const {
    if (!definition_) throw CheckFailed(why_);
    return *definition_;
  }

 private:
  std::shared_ptr<const ServiceDefinition> definition_;
  std::string why_;
};

PluginReport inspect(const BundleManifest& manifest, const std::filesystem::path& probe,
                     const LoadedDefinition& definition) {
  InspectOptions options;
  options.probe.program = probe;
  options.definitions = &definition;
  return verify_plugin(manifest.directory / manifest.library, options);
}

void need_capability(const ServiceDefinition& definition, const std::string& name, CapabilityKind kind,
                     const char* where) {
  const auto* capability = definition.find(name);
  if (!capability || capability->kind != kind)
    throw CheckFailed(fmt::format("conformance.{} names {}, which is no {} of the definition.", where, printable(name),
                                  krux::to_string(kind)));
}

}  // namespace

void check_library(const BundleManifest& manifest, const std::filesystem::path& probe) {
  const auto report = inspect(manifest, probe, LoadedDefinition(manifest));
  if (!report.passed()) throw CheckFailed(report.first_failure());
}

void check_exports(const BundleManifest& manifest) {
  const auto file = open_plugin_file(manifest.directory / manifest.library);
  if (!file.problem.empty()) throw CheckFailed(file.problem);
  const auto elf = inspect_elf(file.bytes);
  if (!elf.problem.empty()) throw CheckFailed(elf.problem);
  if (elf.other_count > 0)
    throw CheckFailed(fmt::format("It exports {} other symbols, such as {}.", elf.other_count,
                                  printable(elf.others.front())));
}

void check_manifest(const BundleManifest& manifest, const std::filesystem::path& probe) {
  if (manifest.abi != KRUX_ABI_MAJOR)
    throw CheckFailed(fmt::format("The manifest says ABI {}, this host speaks ABI {}.", manifest.abi, KRUX_ABI_MAJOR));
  const LoadedDefinition loaded(manifest);
  const auto& definition = loaded.get();
  if (const auto why = why_not_definition(manifest, definition); !why.empty()) throw CheckFailed(why);
  const auto entry = inspect(manifest, probe, loaded).entry;
  if (entry.service != manifest.service || entry.version != manifest.version)
    throw CheckFailed(fmt::format("The library is of {} {}, the manifest of {} {}.", printable(entry.service),
                                  printable(entry.version), manifest.service, manifest.version));
  if (!manifest.conformance) return;
  for (const auto& [name, params] : manifest.conformance->reads) {
    need_capability(definition, name, CapabilityKind::kRead, "reads");
  }
  for (const auto& write : manifest.conformance->writes) {
    need_capability(definition, write.operation, CapabilityKind::kWrite, "writes");
  }
}

}  // namespace krux::certify
