// The Model Context Protocol over standard input and output, for programs that start one instead of knowing an address.
#pragma once

#include <string>

#include "host/cli/session.hpp"

namespace krux::cli {

struct McpArguments {
  std::string key_file;  ///< empty: the key is in KRUXOS_API_KEY
  std::string url = "http://127.0.0.1:7700";
  std::string tools;  ///< which are shown: "all", names of services; empty: the core
};

/// Passes messages, one a line, on to the gateway and its answers back, until the input ends. Several at a time; each
/// answer is one line. What keeps the gateway from answering is said in the answer to each request.
int run_mcp_bridge(const Session& session, const McpArguments& arguments);

}  // namespace krux::cli
