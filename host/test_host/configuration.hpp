// The configuration of a host for tests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/test_host/filling.hpp"

namespace krux {

/// YAML. Everything lies below `directory`, ports are free ones, and nobody waits longer than a second, unless time is
/// driven: then the definitions' times are in force. Throws ConfigError for options that make no sense.
std::string configuration_of(const std::filesystem::path& directory, const cli::TestHostOptions& options,
                             const std::vector<TestedService>& services);

/// Throws ConfigError for a --set that would lead out of the directory.
void check_settings(const std::vector<std::string>& settings);

/// "90 s", "500ms", "24 h", "7 d" in milliseconds. Throws ConfigError, also for less than nothing and for more than a
/// year.
std::int64_t time_in_ms(const std::string& words);

}  // namespace krux
