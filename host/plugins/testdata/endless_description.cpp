// Its description never ends, unless the receiver says stop.
#include "entry.hpp"
namespace {
krux_status describe(const krux_sink* out) noexcept {
  static const char text[1024] = {};
  while (out->write(out->self, {text, sizeof(text)}) == 0) {
  }
  return KRUX_CANCELLED;
}
}  // namespace
BROKEN_PLUGIN(KRUX_MAGIC, sizeof(krux_plugin_entry), "broken", "broken", "1.0.0", &describe);
