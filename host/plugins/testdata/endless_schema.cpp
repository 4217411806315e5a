#include "entry.hpp"
namespace {
krux_status describe(const krux_sink* out) noexcept {
  static const char text[] = "{\"collections\": [], \"config_schema\": {\"$ref\": \"#\"}}";
  return out->write(out->self, {text, sizeof(text) - 1}) == 0 ? KRUX_OK : KRUX_INTERNAL;
}
}  // namespace
BROKEN_PLUGIN(KRUX_MAGIC, sizeof(krux_plugin_entry), "broken", "broken", "1.0.0", &describe);
