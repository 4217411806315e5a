// A plugin's library in this process. The only files with Boost.DLL.
#pragma once

#include <kruxos/abi/entry.h>

#include <filesystem>
#include <memory>
#include <stdexcept>

namespace krux {

class PluginRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Loaded with RTLD_NOW, so that a missing symbol shows here, RTLD_LOCAL, so that libraries do not find each other's
/// symbols, and RTLD_NODELETE: code that a plugin left running, or a destructor of thread-local data, must never return
/// into a gap. For the same reason there is no way to unload it.
class PluginLibrary {
 public:
  /// Runs the library's static constructors. Throws PluginRefused with a sentence when it cannot be loaded or has no
  /// entry.
  explicit PluginLibrary(const std::filesystem::path& file);

  /// Valid until the process ends.
  const krux_plugin_entry& entry() const { return *entry_; }

 private:
  const krux_plugin_entry* entry_ = nullptr;
};

}  // namespace krux
