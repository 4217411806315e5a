// Prints what looks like an answer and ends the process: neither may pass for a plugin.
#include <unistd.h>

#include "entry.hpp"
namespace {
[[gnu::constructor]] void leave() {
  static const char lie[] =
      "{\"service\":\"broken\",\"prefix\":\"broken\",\"version\":\"1.0.0\",\"abi_minor\":0,\"describe\":\"{}\"}";
  const auto written = write(1, lie, sizeof(lie) - 1);
  _exit(written < 0 ? 1 : 0);
}
}  // namespace
BROKEN_PLUGIN(KRUX_MAGIC, sizeof(krux_plugin_entry), "broken", "broken", "1.0.0", &broken::describe);
