#include "options.hpp"

namespace process {

Options options_of(const std::string& config_json) {
  const auto config = kruxos::kit::parse(config_json.empty() ? "{}" : config_json);
  Options options{workspace::options_of(config, "process")};
  const auto take = [&](const char* name, std::int64_t& value) {
    value = kruxos::kit::integer_of(config, name, value);
  };
  take("memory_mib", options.memory_mib);
  take("processes", options.processes);
  take("output_kib", options.output_kib);
  take("file_mib", options.file_mib);
  take("background_seconds", options.background_seconds);
  take("running", options.running);
  options.sandbox = kruxos::kit::text_of(config, "sandbox", options.sandbox);
  options.allow_root = kruxos::kit::flag_of(config, "allow_root");
  return options;
}

}  // namespace process
