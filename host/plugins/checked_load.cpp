#include "host/plugins/checked_load.hpp"

#include "host/plugins/elf_inspect.hpp"
#include "host/plugins/plugin_file.hpp"
#include "host/plugins/plugin_library.hpp"

namespace krux {

CheckedPlugin load_checked(const std::filesystem::path& path) {
  CheckedPlugin plugin;
  const auto file = open_plugin_file(path);
  plugin.problem = file.problem;
  if (!plugin.problem.empty()) return plugin;
  std::uint64_t bytes = 0;
  for (const auto& entry : inspect_elf(file.bytes).entries) {
    if (entry.name == kEntrySymbol) bytes = entry.size;
  }
  plugin.sha256 = file.sha256;
  plugin.entry = &PluginLibrary(path).entry();
  plugin.problem = check_entry(*plugin.entry, bytes, plugin.info);
  // The path was loaded and not the descriptor: debuggers and $ORIGIN need the name.
  if (identify(path) != file.identity)
    plugin.problem = "The file was replaced while it was loaded; start the host again.";
  return plugin;
}

}  // namespace krux
