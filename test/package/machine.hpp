// An adapter author's machine, for tests: the package is installed there, and adapters are built against that alone.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "host/plugins/plugin_registry.hpp"
#include "support/process.hpp"
#include "support/scratch.hpp"

namespace krux::test {

/// Runs and shows what was said where it fails.
inline void must(const std::vector<std::string>& argv, const std::string& in = {}) {
  Command command{argv, {}};
  command.env = {{"CXXFLAGS", ""}, {"LDFLAGS", ""}, {"DESTDIR", ""}};
  command.working_directory = in;
  const auto done = run(command, milliseconds(120'000));
  std::string words;
  for (const auto& word : argv) words += word + " ";
  INFO(words << "\n" << done.out << done.err);
  REQUIRE(done.status.ok());
}

/// An author's machine: the package in a prefix of its own, and nothing else of this project.
struct Machine {
  support::Scratch scratch;
  std::filesystem::path home = std::filesystem::canonical(scratch.path());
  std::filesystem::path prefix = home / "opt/kruxos";

  Machine() { must({KRUXOS_CMAKE, "--install", KRUXOS_BUILD_DIR, "--prefix", prefix, "--component", "plugin_api"}); }
  /// Configures, builds, tests and installs; returns the directory with the bundles.
  std::filesystem::path build(const std::filesystem::path& source, const std::string& compiler,
                              const std::string& flags = {}) const {
    const auto build = home / ("build-" + source.filename().string());
    auto dist = home / ("dist-" + source.filename().string());
    must({KRUXOS_CMAKE, "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_PREFIX_PATH=" + prefix.string(),
          "-DCMAKE_CXX_COMPILER=" + compiler, "-DCMAKE_CXX_FLAGS=" + flags, "-DCMAKE_BUILD_TYPE=Debug"});
    must({KRUXOS_CMAKE, "--build", build, "-j", "2"});
    must({KRUXOS_CTEST, "--test-dir", build, "--no-tests=error", "--output-on-failure"});
    must({KRUXOS_CMAKE, "--install", build, "--prefix", dist});
    return dist;
  }
};

/// Loads a bundle's library as the host does at start.
inline void load(const std::filesystem::path& bundle, const std::string& service, const std::string& prefix) {
  const DefinitionSet definitions(bundle);
  const DefinitionSetIndex index(definitions);
  const auto registry = PluginRegistry::discover(bundle, {{KRUXOS_PLUGIN_PROBE, 20'000}, &index});
  REQUIRE(registry.all().size() == 1);
  INFO(registry.all()[0].reason);
  const auto* plugin = registry.find(service);
  REQUIRE(plugin);
  CHECK(plugin->prefix == prefix);
  CHECK(plugin->version == "1.0.0");
  CHECK(plugin->entry != nullptr);
}

}  // namespace krux::test
