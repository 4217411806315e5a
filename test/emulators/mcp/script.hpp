// What an emulator is told beforehand: further tools, and faults. test/emulators/README.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krux::test::mcp_server {

struct ScriptTool {
  std::string name, description, input_schema_json = R"({"type":"object"})", annotations_json, output_schema_json;
  std::string text = "done", structured_json;
  bool writes = false;  // each call is a line of the journal
  bool is_error = false;
};

struct Fault {
  std::string method, tool;  // empty: any
  std::string kind;
  int skip = 0, count = 1;  // count 0: all that follow
  std::int64_t number = 0;  // of messages, bytes, a code, a status, as the kind has it
  std::string text;
};

struct Change {
  int after_lists = 0;  // whole lists that show the old one
  std::string tool, description;
};

struct Script {
  std::vector<ScriptTool> tools;
  std::vector<Fault> faults;
  std::vector<Change> changes;
  int page_size = 0;  // of tools/list; 0: all at once

  // The next fault for such a request, which is used up by it.
  std::optional<Fault> take(std::string_view method, std::string_view tool);
};

// Throws std::runtime_error with a sentence for what is no script.
Script parse_script(std::string_view json);

}  // namespace krux::test::mcp_server
