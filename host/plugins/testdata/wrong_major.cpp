// Of another ABI major: its constructor must never run, neither in the host nor in the probe.
#include <cstdlib>

namespace {
[[gnu::constructor]] void run() {
  std::abort();
}
}  // namespace

extern "C" {
__attribute__((visibility("default"))) extern const int krux_plugin_v2;
const int krux_plugin_v2 = 2;
}
