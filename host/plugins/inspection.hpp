// Every check that a plugin's file passes before it is loaded, in order, each with its outcome in words.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/policy/definition_set.hpp"
#include "core/replica/collection.hpp"
#include "host/plugins/entry_check.hpp"
#include "host/plugins/plugin_file.hpp"
#include "host/plugins/probe.hpp"

namespace krux {

/// Where the checks find the services' definitions. Any thread.
class DefinitionIndex {
 public:
  virtual ~DefinitionIndex() = default;
  /// The definition of that service; or nothing, and the reason in `why` as a sentence: there is no file, or what is
  /// wrong with it.
  virtual std::shared_ptr<const ServiceDefinition> find(const std::string& service, std::string& why) const = 0;
};

/// Those of a directory.
class DefinitionSetIndex final : public DefinitionIndex {
 public:
  explicit DefinitionSetIndex(const DefinitionSet& set) : set_(set) {}
  std::shared_ptr<const ServiceDefinition> find(const std::string& service, std::string& why) const override;

 private:
  const DefinitionSet& set_;
};

struct PluginCheck {
  enum class Outcome { kPassed, kWarned, kFailed, kSkipped };  ///< kWarned: a remark, which refuses nothing
  std::string name;                                            ///< "ELF file", "entry symbol", ...
  Outcome outcome = Outcome::kSkipped;
  std::string detail;  ///< a sentence; says what to do where it failed
};

struct PluginReport {
  std::filesystem::path file;
  std::vector<PluginCheck> checks;
  EntryInfo entry;     ///< empty until the probe has answered
  std::string sha256;  ///< empty when the file could not be read
  FileIdentity identity;
  std::uint64_t entry_bytes = 0;  ///< of the entry table, by the file's symbol table
  std::string describe_json;
  std::vector<CollectionSpec> collections;
  std::string config_schema_json;     ///< empty: the adapter takes no configuration
  bool acts_by_http = true;           ///< false: the wire proves nothing about its writes
  bool mock = false;                  ///< it stands in for the service's adapter, in tests
  std::optional<AdapterRoles> roles;  ///< nothing: no adapter could be made to look at

  bool passed() const;
  std::string first_failure() const;  ///< the detail of the first failed check, or empty
};

struct InspectOptions {
  ProbeOptions probe;
  const DefinitionIndex* definitions = nullptr;  ///< nullptr: that check is skipped
  std::string sha256;                            ///< that the file must have, or nothing of it is run; empty: any
};

/// Blocks for as long as the probe takes. A failed check skips those that build on it.
PluginReport inspect_plugin(const std::filesystem::path& file, const InspectOptions& options);

}  // namespace krux
