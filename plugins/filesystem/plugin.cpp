#include "adapter.hpp"

KRUXOS_PLUGIN(filesystem::FilesystemAdapter, "filesystem", "filesystem", "0.1.0");
