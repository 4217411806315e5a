// Starts and drives an mcp-emulator process over HTTP in tests. What it takes: test/emulators/README.md.
#pragma once

#include <string>
#include <vector>

#include "support/emulator_process.hpp"
#include "support/scratch.hpp"

namespace krux::test {

struct McpEmulatorOptions {
  std::string revision = "2025-11-25";
  bool events = false;                 // answers are text/event-stream
  std::string script_json;             // empty: no faults, no further tools
  std::vector<std::string> arguments;  // further ones
};

class McpEmulator : public EmulatorProcess {
 public:
  explicit McpEmulator(const McpEmulatorOptions& options = {}) : McpEmulator(options, Files(options)) {}

  std::string url() const { return origin() + "/mcp"; }
  void script(const std::string& json) { control("POST", "script", json); }
  void forget_sessions() { control("POST", "forget_sessions"); }
  std::int64_t requests(const std::string& method) { return state_number({"requests", method}); }
  std::int64_t sessions_begun() { return state_number({"sessions_begun"}); }
  // One text of JSON for each effect, and for each message that came.
  std::vector<std::string> effects() const { return lines_of(files_.journal()); }
  std::vector<std::string> messages() const { return lines_of(files_.log()); }

 private:
  class Files {
   public:
    explicit Files(const McpEmulatorOptions& options);
    std::string journal() const { return scratch_->path() / "journal"; }
    std::string log() const { return scratch_->path() / "log"; }
    std::string script() const { return scratch_->path() / "script.json"; }

   private:
    std::shared_ptr<support::Scratch> scratch_ = std::make_shared<support::Scratch>();
  };
  McpEmulator(const McpEmulatorOptions& options, Files files);
  static std::vector<std::string> lines_of(const std::string& file);

  Files files_;
};

}  // namespace krux::test
