// An emulated server over standard input and output: one line is one message.
#pragma once

#include "emulators/mcp/server.hpp"

namespace krux::test::mcp_server {

// Until the end of the input. Returns the program's status.
int run_stdio(Settings settings);

}  // namespace krux::test::mcp_server
