#include "options.hpp"

#include <kruxos/kit/json.hpp>

#include "workspace/failure.hpp"

namespace filesystem {

Options options_of(const std::string& config_json) {
  const auto config = kruxos::kit::parse(config_json.empty() ? "{}" : config_json);
  Options options;
  options.root = kruxos::kit::text_of(config, "root");
  if (options.root.empty())
    throw workspace::invalid("No directory is set for the workspaces: set services.filesystem.adapter.root.");
  const auto mib = [&](const char* name, std::uint64_t otherwise) {
    const auto given = kruxos::kit::integer_of(config, name);
    return given > 0 ? static_cast<std::uint64_t>(given) << 20 : otherwise;
  };
  options.workspace_bytes = mib("workspace_mib", options.workspace_bytes);
  options.undo_bytes = mib("undo_mib", options.undo_bytes);
  if (const auto entries = kruxos::kit::integer_of(config, "workspace_entries"); entries > 0)
    options.workspace_entries = static_cast<std::uint64_t>(entries);
  return options;
}

}  // namespace filesystem
