// The whole chain with the adapters that work on the host's own machine, beside Slack, which the rig of these tests
// needs.
#pragma once

#include <fstream>
#include <iterator>

#include "kill_rig.hpp"
#include "support/safe_file.hpp"

namespace krux::test {

struct LocalRig : Killable<Rig> {
  explicit LocalRig(const RigOptions& options = {}) : Killable<Rig>(options) {}

  // An adapter and its definition, and what services.<name> says of it; empty: nothing.
  void add(const std::string& name, const std::filesystem::path& adapter, const std::filesystem::path& definition,
           const std::string& settings) {
    support::copy_safe(adapter, path("adapters/" + name + ".so"));
    support::copy_safe(definition, path("definitions/" + name + ".yaml"));
    if (!settings.empty()) config_text += "  " + name + ":\n" + settings;
  }
  void add_files(const std::string& settings = "") {
    add("filesystem", KRUXOS_FILESYSTEM_ADAPTER, KRUXOS_DEFINITIONS "/filesystem.yaml",
        settings.empty() ? "    adapter: {root: " + root().string() + "}\n" : settings);
  }

  // `base`: an address on the loopback that may be asked by plain http.
  void add_network(const std::string& allow_hosts, const std::string& base = "") {
    add("network", KRUXOS_NETWORK_ADAPTER, KRUXOS_DEFINITIONS "/network.yaml",
        (base.empty() ? "" : "    api_base_url: " + base + "\n") + "    adapter: {allow_hosts: " + allow_hosts + "}\n");
  }

  void add_processes() {
    add("process", KRUXOS_PROCESS_ADAPTER, KRUXOS_DEFINITIONS "/process.yaml",
        "    adapter: {root: " + root().string() + ", allow_root: true}\n");
  }

  std::filesystem::path root() const { return path("workspaces"); }
  // Of the agent that a test made last, or of the rig's own.
  std::filesystem::path files(const std::string& agent = "assistant") {
    const auto agents = parse(control("GET", "/agents").body);
    for (std::size_t i = 0; i < size_at(agents, "/agents"); ++i) {
      const auto at = "/agents/" + std::to_string(i);
      if (text_at(agents, at + "/name") == agent) return root() / text_at(agents, at + "/agent_id") / "files";
    }
    return {};
  }
  std::string content(const std::string& name) {
    std::ifstream in(files() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

}  // namespace krux::test
