#include "options.hpp"

namespace filesystem {

Options options_of(const std::string& config_json) {
  const auto config = kruxos::kit::parse(config_json.empty() ? "{}" : config_json);
  Options options{workspace::options_of(config, "filesystem")};
  options.undo_bytes = workspace::mib_of(config, "undo_mib", options.undo_bytes);
  return options;
}

}  // namespace filesystem
