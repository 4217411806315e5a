#include "adapter.hpp"

KRUXOS_PLUGIN(network::NetworkAdapter, "network", "network", "0.1.0");
