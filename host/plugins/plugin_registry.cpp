#include "host/plugins/plugin_registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "core/util/error.hpp"
#include "host/plugins/plugin_library.hpp"

namespace krux {
namespace {

std::vector<std::filesystem::path> libraries_in(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  std::filesystem::directory_iterator at(directory, error), end;
  for (; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".so") files.push_back(at->path());
  }
  if (error)
    throw ConfigError(fmt::format("The plugins directory {} cannot be read: {}.", directory.string(), error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

PluginInfo info_of(PluginReport report) {
  PluginInfo info;
  info.file = std::move(report.file);
  info.service = std::move(report.entry.service);
  info.prefix = std::move(report.entry.prefix);
  info.version = std::move(report.entry.version);
  info.abi_minor = report.entry.abi_minor;
  info.sha256 = std::move(report.sha256);
  info.collections = std::move(report.collections);
  info.config_schema_json = std::move(report.config_schema_json);
  info.acts_by_http = report.acts_by_http;
  info.mock = report.mock;
  return info;
}

/// Loads what has passed every check, and looks again at what was loaded: the checks saw another process's copy.
void load(PluginInfo& info, const PluginReport& report) {
  try {
    const auto& entry = PluginLibrary(report.file).entry();
    EntryInfo now;
    info.reason = check_entry(entry, report.entry_bytes, now);
    const bool same =
        now.service == report.entry.service && now.prefix == report.entry.prefix && now.version == report.entry.version;
    // The path is loaded and not the descriptor that was examined (debuggers and $ORIGIN need the name); nobody else
    // can write the directory, so that a file which still is the same one was loaded.
    if (info.reason.empty() && (!same || identify(report.file) != report.identity)) {
      info.reason = "The file was replaced while it was examined; start the host again.";
    }
    if (!info.reason.empty()) return;
    info.entry = &entry;
    info.state = PluginInfo::State::kLoaded;
  } catch (const PluginRefused& e) {
    info.reason = e.what();
  }
}

}  // namespace

PluginRegistry PluginRegistry::discover(const std::filesystem::path& directory, const InspectOptions& options,
                                        const PluginRegistration& registration) {
  std::error_code error;
  const auto real = std::filesystem::canonical(directory, error);
  if (error)
    throw ConfigError(fmt::format("The plugins directory {} cannot be used: {}.", directory.string(), error.message()));
  if (const auto problem = directory_problem(real); !problem.empty()) {
    throw ConfigError(fmt::format("Adapters cannot be loaded from {}. {}", real.string(), problem));
  }
  PluginRegistry registry;
  for (const auto& file : libraries_in(real)) registry.consider(file, options, registration);
  return registry;
}

void PluginRegistry::consider(const std::filesystem::path& file, const InspectOptions& options,
                              const PluginRegistration& registration) {
  const auto report = inspect_plugin(file, options);
  auto info = info_of(report);
  info.reason = report.first_failure();
  const auto* other = info.reason.empty() ? find(info.service) : nullptr;
  if (other) {
    info.reason = fmt::format("{} already serves {}, {} is left out; remove one of them.",
                              other->file.filename().string(), info.service, file.filename().string());
  }
  const auto chosen = registration.chosen ? registration.chosen(info.service) : std::nullopt;
  info.isolation = chosen.value_or(registration.isolation);
  if (info.reason.empty()) return add(report, info.isolation, PluginInfo::Origin::kDirectory);
  all_.push_back(std::move(info));
}

void PluginRegistry::add(const PluginReport& report, Isolation isolation, PluginInfo::Origin origin) {
  auto info = info_of(report);
  info.isolation = isolation;
  info.origin = origin;
  if (isolation == Isolation::kProcess) {
    info.state = PluginInfo::State::kLoaded;  // by its runner, which is held to the same file and the same words
  } else {
    load(info, report);
  }
  all_.push_back(std::move(info));
}

const PluginInfo* PluginRegistry::find(const std::string& service) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& info) {
    return info.state == PluginInfo::State::kLoaded && info.service == service;
  });
  return found == all_.end() ? nullptr : &*found;
}

}  // namespace krux
