// Loads a plugin in a process of its own first: a damaged library can crash the loader, and a constructor can do
// anything.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "host/plugins/entry_check.hpp"
#include "host/plugins/table_check.hpp"
#include "host/sandbox/confinement.hpp"

namespace krux {

struct ProbeOptions {
  std::filesystem::path program;     ///< kruxos-plugin-probe; empty: find_helper()
  std::int64_t timeout_ms = 10'000;  ///< real time: it bounds another process
  /// Required, since the code that is loaded may be that of a stranger, whom nobody has agreed to yet.
  Confinement confinement{.processor_seconds = 20};
};

struct ProbeResult {
  std::string problem;  ///< a sentence; empty when the plugin loaded and its entry is in order
  EntryInfo entry;
  std::string describe_json;
  TableCheck tables;                    ///< of the adapter's roles
  std::vector<std::string> unconfined;  ///< what the kernel refused, where it was not required: sentences
};

/// Blocks until the probe has answered, died or used up its time. Any thread.
ProbeResult probe_plugin(const std::filesystem::path& file, const ProbeOptions& options);

/// A program of ours next to the running one, or in ../libexec/kruxos from there; empty when it is in neither.
std::filesystem::path find_helper(const std::string& name);

}  // namespace krux
