// A plugins directory of a test's own, filled with copies of the test plugins.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "host/plugins/inspection.hpp"
#include "support/scratch.hpp"

namespace krux::test {

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class PluginDir {
 public:
  const std::filesystem::path& path() const { return path_; }

  /// Copies the test plugin `name` in as `as` (by default its own name) and returns the copy.
  std::filesystem::path add(const std::string& name, const std::string& as = {}) const {
    return copy(std::filesystem::path(KRUXOS_TEST_PLUGINS) / (name + ".so"), as.empty() ? name : as);
  }
  std::filesystem::path copy(const std::filesystem::path& from, const std::string& as) const {
    auto to = path_ / (as + ".so");
    std::filesystem::copy_file(from, to);
    std::filesystem::permissions(to, std::filesystem::perms(0644));
    return to;
  }
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    auto to = path_ / name;
    std::ofstream(to, std::ios::binary) << bytes;
    std::filesystem::permissions(to, std::filesystem::perms(0644));
    return to;
  }

 private:
  const support::Scratch scratch_;
  const std::filesystem::path path_ = std::filesystem::canonical(scratch_.path());
};

inline InspectOptions options(const DefinitionIndex* definitions = nullptr) {
  return {{KRUXOS_PLUGIN_PROBE, 20'000}, definitions};
}

}  // namespace krux::test
