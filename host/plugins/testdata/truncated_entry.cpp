// Its size says that it ends before create.
#include "entry.hpp"
BROKEN_PLUGIN(KRUX_MAGIC, offsetof(krux_plugin_entry, create), "broken", "broken", "1.0.0", &broken::describe);
