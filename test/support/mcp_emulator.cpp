#include "support/mcp_emulator.hpp"

#include <fstream>
#include <utility>

namespace krux::test {

McpEmulator::Files::Files(const McpEmulatorOptions& options) {
  std::ofstream(script()) << (options.script_json.empty() ? "{}" : options.script_json);
}

McpEmulator::McpEmulator(const McpEmulatorOptions& options, Files files)
    : EmulatorProcess([&] {
        Start start;
        start.program = KRUXOS_MCP_EMULATOR;
        start.driven_clock = false;
        start.arguments = {"--revision", options.revision, "--journal", files.journal(),
                           "--log",      files.log(),      "--script",  files.script()};
        if (options.events) start.arguments.emplace_back("--sse");
        start.arguments.insert(start.arguments.end(), options.arguments.begin(), options.arguments.end());
        return start;
      }()),
      files_(std::move(files)) {}

std::vector<std::string> McpEmulator::lines_of(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace krux::test
