#include "options.hpp"

#include <kruxos/kit/json.hpp>

#include "workspace/failure.hpp"

namespace process {

Options options_of(const std::string& config_json) {
  const auto config = kruxos::kit::parse(config_json.empty() ? "{}" : config_json);
  Options options;
  options.root = kruxos::kit::text_of(config, "root");
  if (options.root.empty())
    throw workspace::invalid("No directory is set for the workspaces: set services.process.adapter.root.");
  const auto take = [&](const char* name, std::int64_t& value) {
    value = kruxos::kit::integer_of(config, name, value);
  };
  take("memory_mib", options.memory_mib);
  take("processes", options.processes);
  take("output_kib", options.output_kib);
  take("file_mib", options.file_mib);
  take("workspace_mib", options.workspace_mib);
  take("background_seconds", options.background_seconds);
  take("running", options.running);
  options.sandbox = kruxos::kit::text_of(config, "sandbox", options.sandbox);
  options.allow_root = kruxos::kit::flag_of(config, "allow_root");
  return options;
}

}  // namespace process
