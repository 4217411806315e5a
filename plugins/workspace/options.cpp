#include "workspace/options.hpp"

#include "workspace/failure.hpp"

namespace workspace {

std::uint64_t mib_of(const kruxos::kit::Json& config, const char* key, std::uint64_t otherwise) {
  const auto given = kruxos::kit::integer_of(config, key);
  return given > 0 ? static_cast<std::uint64_t>(given) << 20 : otherwise;
}

Options options_of(const kruxos::kit::Json& config, std::string_view service) {
  Options options;
  options.root = kruxos::kit::text_of(config, "root");
  if (options.root.empty())
    throw invalid("No directory is set for the workspaces: set services." + std::string(service) + ".adapter.root.");
  options.workspace_bytes = mib_of(config, "workspace_mib", options.workspace_bytes);
  if (const auto entries = kruxos::kit::integer_of(config, "workspace_entries"); entries > 0)
    options.workspace_entries = static_cast<std::uint64_t>(entries);
  return options;
}

}  // namespace workspace
