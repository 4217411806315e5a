// The adapters that the host found, and those that it refused, each with its reason.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/config/config.hpp"
#include "core/replica/collection.hpp"
#include "host/plugins/inspection.hpp"

namespace krux {

/// Where a plugin's adapters run.
struct PluginRegistration {
  Isolation isolation = Isolation::kInProcess;  ///< unless the operator says otherwise
  /// The operator's word for a service, or nothing.
  std::function<std::optional<Isolation>(const std::string& service)> chosen;
};

struct PluginInfo {
  std::filesystem::path file;
  std::string service, prefix, version;  ///< empty where it was refused before it said so
  std::uint32_t abi_minor = 0;
  enum class State { kLoaded, kRefused } state = State::kRefused;
  std::string reason;  ///< why it was refused, as a sentence that says what to do
  std::string sha256;
  std::vector<CollectionSpec> collections;
  std::string config_schema_json;  ///< empty: it takes no configuration
  bool acts_by_http = true;        ///< false: the wire proves nothing about its writes
  bool mock = false;               ///< it stands in for the service's adapter, in tests
  Isolation isolation = Isolation::kInProcess;
  enum class Origin { kDirectory, kBundle } origin = Origin::kDirectory;  ///< the plugins directory, or a bundle
  const krux_plugin_entry* entry = nullptr;  ///< of one that is loaded here; valid until the process ends
};

/// Built once at start, by discover() and what is added then, immutable afterwards; any thread may read it.
class PluginRegistry {
 public:
  /// Looks at every *.so of the directory in the order of their names. A file that is refused ends nothing. Of two
  /// files for one service the first is taken. Throws ConfigError when the directory itself cannot be used.
  static PluginRegistry discover(const std::filesystem::path& directory, const InspectOptions& options,
                                 const PluginRegistration& registration = {});

  /// One more, from elsewhere, that has passed its checks; loaded here unless it has a process of its own.
  void add(const PluginReport& report, Isolation isolation, PluginInfo::Origin origin);
  /// One that is not loaded, with the reason.
  void add_refused(PluginInfo info) { all_.push_back(std::move(info)); }

  const std::vector<PluginInfo>& all() const { return all_; }
  /// The loaded adapter of that service, or nullptr.
  const PluginInfo* find(const std::string& service) const;

 private:
  void consider(const std::filesystem::path& file, const InspectOptions& options,
                const PluginRegistration& registration);

  std::vector<PluginInfo> all_;
};

}  // namespace krux
