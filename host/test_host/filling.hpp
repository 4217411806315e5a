// What a host for tests serves: copies of adapters, mocks and bundles, with a configuration of their own.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/definition/definition.hpp"
#include "host/cli/test_host_options.hpp"

namespace krux {

struct TestedService {
  enum class Kind { kMock, kAdapter, kBundle };
  Kind kind = Kind::kMock;
  std::shared_ptr<const ServiceDefinition> definition;
  std::filesystem::path script;  ///< of a mock: the copy that it reads
  bool has_records = false;      ///< the script has some
  std::string token;             ///< empty: it is left unconnected, or needs none
};

const char* to_string(TestedService::Kind kind);  ///< "mock", "adapter", "bundle"

/// Copies what the options name into `directory`, installs bundles there, and writes kruxos.yaml. The services in the
/// order of the options. Throws ConfigError or krux::Error with a sentence that names what cannot be used.
std::vector<TestedService> fill(const std::filesystem::path& directory, const cli::TestHostOptions& options);

}  // namespace krux
