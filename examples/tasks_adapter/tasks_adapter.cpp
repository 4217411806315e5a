#include "tasks_adapter.hpp"

KRUXOS_PLUGIN(tasks::TasksAdapter, "tasks", "tasks", "1.0.0");
