#include "entry.hpp"
BROKEN_PLUGIN(0x12345678u, sizeof(krux_plugin_entry), "broken", "broken", "1.0.0", &broken::describe);
