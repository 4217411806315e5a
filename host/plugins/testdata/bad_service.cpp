#include "entry.hpp"
BROKEN_PLUGIN(KRUX_MAGIC, sizeof(krux_plugin_entry), "../etc", "broken", "1.0.0", &broken::describe);
