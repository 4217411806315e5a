// The tools of an emulated server, and what they do.
#pragma once

#include <rapidjson/document.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulators/common/json_out.hpp"
#include "emulators/mcp/script.hpp"

namespace krux::test::mcp_server {

class Tools {
 public:
  // `journal`: the file that gets a line for each effect; empty: none.
  Tools(Script& script, std::string journal);

  bool has(std::string_view name) const;
  // What stands in a result of tools/list: "tools", and "nextCursor" where more follows. False: no such cursor.
  bool list(std::string_view cursor, emulator::JsonOut& out);
  // What stands in a result of tools/call. `meta`: the call's, or nullptr.
  void call(std::string_view name, const rapidjson::Value& arguments, const rapidjson::Value* meta,
            emulator::JsonOut& out);

 private:
  std::string description_of(const ScriptTool& tool) const;
  void write(const ScriptTool& tool, const rapidjson::Value& arguments, const rapidjson::Value* meta);

  Script& script_;
  const std::string journal_;
  std::vector<ScriptTool> all_;
  std::vector<std::string> notes_;
  int lists_ = 0;  // whole ones, shown so far
};

}  // namespace krux::test::mcp_server
