#include <unistd.h>

#include "entry.hpp"
namespace {
[[gnu::constructor]] void hang() {
  for (;;) pause();
}
}  // namespace
BROKEN_PLUGIN(KRUX_MAGIC, sizeof(krux_plugin_entry), "broken", "broken", "1.0.0", &broken::describe);
