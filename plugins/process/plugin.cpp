#include "adapter.hpp"

KRUXOS_PLUGIN(process::ProcessAdapter, "process", "process", "0.1.0");
