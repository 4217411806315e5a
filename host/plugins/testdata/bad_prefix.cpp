#include "entry.hpp"
BROKEN_PLUGIN(KRUX_MAGIC, sizeof(krux_plugin_entry), "broken", "Bad", "1.0.0", &broken::describe);
